//@ expect: pass
// Spin locks of one's own, with and without a pause, never yielding.
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>
#include <vector>

class TestAndSet {
    std::atomic_flag taken;

  public:
    void lock() {
        while (taken.test_and_set(std::memory_order_acquire)) {
        }
    }
    void unlock() { taken.clear(std::memory_order_release); }
};

class TestTestAndSet {
    std::atomic<bool> taken{false};

  public:
    void lock() {
        for (;;) {
            if (!taken.exchange(true, std::memory_order_acquire))
                return;
            while (taken.load(std::memory_order_relaxed))
                __builtin_ia32_pause();
        }
    }
    void unlock() { taken.store(false, std::memory_order_release); }
};

int main() {
    TestAndSet a;
    TestTestAndSet b;
    int first = 0, second = 0;
    std::vector<std::thread> strands;
    for (int i = 0; i < 3; i++)
        strands.emplace_back([&] {
            for (int round = 0; round < 2; round++) {
                {
                    std::lock_guard guard(a);
                    first++;
                }
                std::lock_guard guard(b);
                second++;
            }
        });
    for (auto &strand : strands)
        strand.join();
    assert(first == 6 && second == 6);
}
