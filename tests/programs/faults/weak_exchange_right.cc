// A weak exchange may fail for no reason: it is tried again.
//@ expect: pass
//@ runs: 300
//@ compilers: gcc
#include <atomic>
#include <cassert>
#include <thread>

static std::atomic<int> count;

static void add() {
    int found = count.load();
    while (!count.compare_exchange_weak(found, found + 1)) {}
}

int main() {
    std::thread other(add);
    other.join();
    add();
    assert(count.load() == 2);
    return 0;
}
