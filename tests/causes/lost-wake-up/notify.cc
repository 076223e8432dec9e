// A notification without a condition, by std's names.
//@ expect: deadlock
//@ pair: notify wait
//@ pattern: lost-wake-up
//@ object: gate.changed|changed
#include <condition_variable>
#include <mutex>
#include <thread>

struct Gate {
    std::mutex lock;
    std::condition_variable changed;
};
static Gate gate;

static void pass() {
    std::unique_lock<std::mutex> hold(gate.lock); //~ locks
    gate.changed.wait(hold); //~ wait
}

int main() {
    std::thread walker(pass);
    {
        std::lock_guard<std::mutex> hold(gate.lock); //~ opens
    }
    gate.changed.notify_one(); //~ notify
    walker.join();
}
