//@ expect: deadlock
//@ strategy: round-robin
//@ max-runs: 2
//@ message: lock cycle of 3 strands
//@ preemptions: 1
//@ pair: mine next
// Three strands and three locks in a circle, one after the other; only a directed run has them there together.
#include <atomic>
#include <mutex>
#include <thread>

static std::mutex locks[3];
static std::atomic<int> work;

static void visit(int own) {
    for (int i = 0; i < own * 1000; i++)
        work++;
    std::lock_guard<std::mutex> mine(locks[own]); //~ mine
    std::lock_guard<std::mutex> next(locks[(own + 1) % 3]); //~ next
}

int main() {
    std::thread a(visit, 0), b(visit, 1), c(visit, 2);
    a.join();
    b.join();
    c.join();
}
