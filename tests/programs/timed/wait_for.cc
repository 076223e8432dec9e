//@ expect: pass
// wait_for and wait_until with predicates, for both clocks, on condition_variable and future.
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

using namespace std::chrono_literals;

int main() {
    std::mutex lock;
    std::condition_variable changed;
    bool ready = false;
    {
        std::unique_lock guard(lock);
        auto before = std::chrono::steady_clock::now();
        assert(!changed.wait_for(guard, 3ms, [&] { return ready; }));
        assert(std::chrono::steady_clock::now() - before >= 3ms);
        assert(!changed.wait_until(guard, std::chrono::system_clock::now() + 1ms, [&] { return ready; }));
    }
    std::thread setter([&] {
        std::this_thread::sleep_for(1ms);
        std::lock_guard guard(lock);
        ready = true;
        changed.notify_all();
    });
    {
        std::unique_lock guard(lock);
        bool in_time = changed.wait_for(guard, 2ms, [&] { return ready; });
        assert(in_time == ready);
        changed.wait(guard, [&] { return ready; });
    }
    setter.join();

    std::promise<int> promise;
    auto future = promise.get_future();
    assert(future.wait_for(1ms) == std::future_status::timeout);
    std::thread teller([&] { promise.set_value(5); });
    while (future.wait_for(1ms) != std::future_status::ready) {
    }
    assert(future.get() == 5);
    teller.join();
}
