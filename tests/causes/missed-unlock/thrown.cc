// An exception leaves the section, and the lock stays taken.
//@ expect: deadlock
//@ pair: stop look
//@ pair: lock main_lock
//@ pattern: order-violation
//@ object: stopped|lock
#include <atomic>
#include <mutex>
#include <stdexcept>
#include <thread>

static std::mutex lock;
static std::atomic<bool> stopped;
static std::atomic<int> work;

static void step() {
    lock.lock(); //~ lock
    if (stopped) throw std::runtime_error("stopped"); //~ look
    work++;
    lock.unlock();
}

int main() {
    std::thread worker([] {
        try {
            step(); //~ steps
        } catch (const std::exception &) {
        }
    });
    stopped = true; //~ stop
    lock.lock(); //~ main_lock
    lock.unlock();
    worker.join();
}
