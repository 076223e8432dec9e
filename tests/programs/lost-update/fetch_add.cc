//@ expect: pass
// One indivisible addition per strand, in every order of memory.
#include <atomic>
#include <cassert>
#include <thread>
#include <vector>

int main() {
    std::atomic<long> relaxed{0}, ordered{0};
    std::vector<std::thread> strands;
    for (int i = 0; i < 4; i++)
        strands.emplace_back([&] {
            relaxed.fetch_add(1, std::memory_order_relaxed);
            ordered.fetch_add(2, std::memory_order_acq_rel);
            ordered -= 1;
        });
    for (auto &strand : strands)
        strand.join();
    assert(relaxed == 4 && ordered == 4);
}
