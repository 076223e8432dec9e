// The same in C++: streams, strings, objects that are made before `main`.
#include <cassert>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#ifdef EARLY
static const std::string level = std::getenv("LEVEL");
#else
static const std::string level = "unknown";
#endif
static std::vector<int> made = {1, 2, 3};
static int balance;

int main(int argc, char **argv) {
    std::vector<std::string> words(argv + 1, argv + argc);
    std::string line;
    std::getline(std::cin, line);
    std::ifstream file(words.back(), std::ios::binary);
    std::string content((std::istreambuf_iterator<char>(file)), {});
    const std::string now = std::getenv("LEVEL");
    std::cout << words[0] << ' ' << line << ' ' << content.size() << ' ' << now << '\n';
    int rounds = 1 + (words[0] > "5") + (line.size() > 2) + (content.size() > 3);
    auto deposit = [&] {
        for (int i = 0; i < rounds; i++) {
            int seen = balance;
            balance = seen + 1;
        }
    };
    std::thread other(deposit);
    if (now == "2")
        deposit();
    other.join();
    assert(now != "2" || words[0] != "7" || line.empty() || balance == 2 * rounds);
    return 0;
}
