//@ expect: pass
// std::call_once; the initialiser throws the first time and is tried again.
#include <atomic>
#include <cassert>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

int main() {
    std::once_flag once, failing;
    int calls = 0, tries = 0;
    std::atomic<int> caught{0};
    std::vector<std::thread> strands;
    for (int i = 0; i < 3; i++)
        strands.emplace_back([&] {
            std::call_once(once, [&](int by) { calls += by; }, 1);
            assert(calls == 1);
            try {
                std::call_once(failing, [&] {
                    if (++tries == 1)
                        throw std::runtime_error("not yet");
                });
            } catch (const std::runtime_error &) {
                caught++;
            }
        });
    for (auto &strand : strands)
        strand.join();
    assert(calls == 1 && tries == 2 && caught == 1);
}
