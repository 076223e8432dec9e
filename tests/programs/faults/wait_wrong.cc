// `wait` without a condition takes a wake-up for the event.
//@ expect: assertion
//@ max-runs: 200
//@ bare: any
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <thread>

static std::mutex lock;
static std::condition_variable changed;
static bool ready;
static int data;

int main() {
    std::thread setter([] {
        std::lock_guard<std::mutex> held(lock);
        data = 42;
        ready = true;
        changed.notify_one();
    });
    {
        std::unique_lock<std::mutex> held(lock);
        if (!ready) changed.wait(held);
        assert(data == 42);
    }
    setter.join();
    return 0;
}
