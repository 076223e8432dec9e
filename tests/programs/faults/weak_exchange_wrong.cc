// A weak exchange that fails is taken for another strand's success.
//@ expect: assertion
//@ max-runs: 200
//@ compilers: gcc
//@ bare: any
#include <atomic>
#include <cassert>
#include <thread>

static std::atomic<int> count;

static void add() {
    int found = count.load();
    if (!count.compare_exchange_weak(found, found + 1)) return;
}

int main() {
    std::thread other(add);
    other.join();
    add();
    assert(count.load() == 2);
    return 0;
}
