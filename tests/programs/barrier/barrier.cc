//@ expect: pass
// std::barrier with a completion step, one strand drops out; std::latch as gate and as counter.
#include <atomic>
#include <barrier>
#include <cassert>
#include <latch>
#include <thread>
#include <vector>

int main() {
    int completed = 0;
    std::atomic<int> arrived{0};
    auto on_completion = [&]() noexcept { completed++; };
    std::barrier sync(3, on_completion);
    std::latch gate(1), finished(3);
    std::vector<std::thread> strands;
    for (int i = 0; i < 3; i++)
        strands.emplace_back([&, i] {
            gate.wait();
            arrived++;
            sync.arrive_and_wait();
            assert(completed >= 1 && arrived == 3);
            if (i == 2)
                sync.arrive_and_drop();
            else
                sync.arrive_and_wait();
            finished.count_down();
        });
    assert(!finished.try_wait());
    gate.count_down();
    finished.wait();
    assert(completed == 2);
    for (auto &strand : strands)
        strand.join();
}
