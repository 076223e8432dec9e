//@ expect: pass
// mutex, recursive_mutex, timed_mutex and recursive_timed_mutex through every guard.
#include <cassert>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

template <class Mutex> static int count_under() {
    Mutex lock;
    int count = 0;
    std::vector<std::thread> strands;
    for (int i = 0; i < 3; i++)
        strands.emplace_back([&] {
            std::lock_guard<Mutex> guard(lock);
            count++;
        });
    strands.emplace_back([&] {
        std::unique_lock<Mutex> guard(lock, std::defer_lock);
        while (!guard.try_lock())
            std::this_thread::yield();
        count++;
    });
    for (auto &strand : strands)
        strand.join();
    return count;
}

template <class Mutex> static void nest() {
    Mutex lock;
    std::lock_guard<Mutex> outer(lock);
    std::unique_lock<Mutex> inner(lock, std::try_to_lock);
    assert(inner.owns_lock());
    std::thread([&] { assert(!lock.try_lock()); }).join();
}

template <class Mutex> static void time_out() {
    Mutex lock;
    std::lock_guard<Mutex> held(lock);
    std::thread([&] {
        auto before = std::chrono::steady_clock::now();
        assert(!lock.try_lock_for(2ms));
        assert(std::chrono::steady_clock::now() - before >= 2ms);
        assert(!lock.try_lock_until(std::chrono::system_clock::now() + 1ms));
    }).join();
}

int main() {
    assert(count_under<std::mutex>() == 4 && count_under<std::recursive_mutex>() == 4);
    assert(count_under<std::timed_mutex>() == 4 && count_under<std::recursive_timed_mutex>() == 4);
    nest<std::recursive_mutex>();
    nest<std::recursive_timed_mutex>();
    time_out<std::timed_mutex>();
    time_out<std::recursive_timed_mutex>();
}
