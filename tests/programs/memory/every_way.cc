//@ expect: pass
// new and delete in all their forms, with cookies, alignments and libstdc++'s own containers.
#include <array>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

struct Counted {
    static thread_local int alive;
    int value = 1;
    Counted() { alive++; }
    ~Counted() { alive--; }
};
thread_local int Counted::alive = 0;

struct alignas(64) Wide {
    char bytes[100] = {};
};

static void use() {
    auto *cookies = new Counted[7];
    cookies[6].value = 2;
    delete[] cookies;
    auto *wide = new Wide[3];
    wide[2].bytes[99] = 1;
    delete[] wide;
    alignas(Counted) unsigned char room[sizeof(Counted)];
    auto *placed = new (room) Counted;
    placed->~Counted();
    auto *maybe = new (std::nothrow) int(5);
    delete maybe;
    std::string text = "short";
    for (int i = 0; i < 20; i++)
        text += std::to_string(i) + ", ";
    std::map<int, std::string> sorted;
    std::unordered_map<std::string, std::vector<int>> named;
    std::deque<int> both;
    std::list<std::unique_ptr<Counted>> owned;
    for (int i = 0; i < 20; i++) {
        sorted[i % 5] += text;
        named[text.substr(0, i)].push_back(i);
        both.push_front(i);
        owned.push_back(std::make_unique<Counted>());
    }
    sorted.erase(3);
    named.clear();
    both.pop_back();
    owned.pop_front();
    std::ostringstream stream;
    stream << text << both.size() << sorted.size();
    auto shared = std::make_shared<std::array<int, 9>>();
    (*shared)[8] = static_cast<int>(stream.str().size());
}

int main() {
    std::thread other(use);
    use();
    other.join();
}
