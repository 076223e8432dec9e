//@ expect: pass
// shared_mutex and shared_timed_mutex, shared and exclusive, try and timed.
#include <cassert>
#include <chrono>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

template <class Mutex> static void share() {
    Mutex lock;
    int a = 0, b = 0;
    std::vector<std::thread> strands;
    for (int i = 0; i < 2; i++) {
        strands.emplace_back([&] {
            std::unique_lock guard(lock);
            a++;
            b++;
        });
        strands.emplace_back([&] {
            std::shared_lock guard(lock);
            assert(a == b);
        });
    }
    for (auto &strand : strands)
        strand.join();
    assert(a == 2 && b == 2);
    std::shared_lock first(lock), second(lock, std::try_to_lock);
    assert(second.owns_lock() && !lock.try_lock());
}

int main() {
    share<std::shared_mutex>();
    share<std::shared_timed_mutex>();
    std::shared_timed_mutex timed;
    std::unique_lock guard(timed);
    std::thread other([&] {
        assert(!timed.try_lock_shared());
        assert(!timed.try_lock_for(1ms));
        assert(!timed.try_lock_shared_until(std::chrono::steady_clock::now() + 1ms));
    });
    other.join();
}
