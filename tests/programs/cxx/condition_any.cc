//@ expect: pass
// condition_variable_any with a shared_mutex, with a stop token, and notify_all_at_thread_exit.
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <stop_token>
#include <thread>

int main() {
    std::shared_mutex lock;
    std::condition_variable_any changed;
    bool ready = false;
    auto wait = [&] {
        std::shared_lock guard(lock);
        changed.wait(guard, [&] { return ready; });
    };
    std::thread a(wait), b(wait);
    {
        std::unique_lock guard(lock);
        ready = true;
    }
    changed.notify_all();
    a.join();
    b.join();

    std::mutex plain;
    std::condition_variable_any never;
    bool fulfilled = true;
    {
        std::jthread waiter([&](std::stop_token stop) {
            std::unique_lock guard(plain);
            fulfilled = never.wait(guard, stop, [] { return false; });
            assert(stop.stop_requested());
        });
    }
    assert(!fulfilled);

    std::condition_variable at_exit;
    bool done = false;
    std::thread leaver([&] {
        std::unique_lock guard(plain);
        done = true;
        std::notify_all_at_thread_exit(at_exit, std::move(guard));
    });
    {
        std::unique_lock guard(plain);
        at_exit.wait(guard, [&] { return done; });
    }
    leaver.join();
}
