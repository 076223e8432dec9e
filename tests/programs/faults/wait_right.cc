// A wait may end without a signal: the condition is to be looked at again.
//@ expect: pass
//@ runs: 300
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
        changed.wait(held, [] { return ready; });
        assert(data == 42);
    }
    setter.join();
    return 0;
}
