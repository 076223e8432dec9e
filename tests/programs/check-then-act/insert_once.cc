//@ expect: pass
// Check and act in one critical section.
#include <cassert>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

int main() {
    std::mutex lock;
    std::unordered_map<int, int> owner;
    int built = 0;
    std::vector<std::thread> strands;
    for (int i = 0; i < 3; i++)
        strands.emplace_back([&, i] {
            for (int key = 0; key < 3; key++) {
                std::lock_guard<std::mutex> guard(lock);
                if (owner.try_emplace(key, i).second)
                    built++;
            }
        });
    for (auto &strand : strands)
        strand.join();
    assert(built == 3 && owner.size() == 3);
}
