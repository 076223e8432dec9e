//@ expect: deadlock
//@ preemptions: 1
//@ pair: notify wait
// A wait without a predicate: a notification that comes first is gone.
#include <condition_variable>
#include <mutex>
#include <thread>

int main() {
    std::mutex lock;
    std::condition_variable started;
    std::thread worker([&] {
        std::lock_guard<std::mutex> guard(lock);
        started.notify_one(); //~ notify
    });
    {
        std::unique_lock<std::mutex> guard(lock);
        started.wait(guard); //~ wait
    }
    worker.join();
}
