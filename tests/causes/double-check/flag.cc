// The flag is set before the value; calls are counted on the way.
//@ expect: assertion
//@ pair: fill use
//@ pair: mark look
//@ pattern: torn-pair|use-before-init
//@ object: value|made
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>

static std::atomic<bool> made;
static std::atomic<int> value;
static std::atomic<int> calls, slow;
static std::mutex lock;

static int get() {
    calls++;
    if (!made) { //~ look
        slow++;
        std::lock_guard<std::mutex> hold(lock); //~ lock
        if (!made) { //~ again
            made = true; //~ mark
            value = 42; //~ fill
        }
    }
    calls++;
    return value; //~ use
}

static void user() {
    int seen = get(); //~ uses
    assert(seen == 42); //~ end
}

int main() {
    std::thread a(user), b(user);
    a.join();
    b.join();
}
