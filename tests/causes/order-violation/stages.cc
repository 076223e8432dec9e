// The second stage expects the first to be over; both keep statistics.
//@ expect: assertion
//@ pair: first second
//@ pattern: order-violation|use-before-init
//@ object: stage
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>

static std::atomic<int> stage{0};
static std::mutex lock;
static int steps;

static void step() {
    std::lock_guard<std::mutex> hold(lock);
    ++steps;
}

static void one() {
    step();
    stage = 1; //~ first
    step();
}

static void two() {
    step();
    int now = stage; //~ second
    step();
    assert(now == 1); //~ end
}

int main() {
    std::thread a(one), b(two);
    a.join();
    b.join();
}
