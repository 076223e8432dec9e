//@ expect: assertion
//@ preemptions: 1
//@ pair: add add
// Every access is atomic, the increment is not.
#include <atomic>
#include <cassert>
#include <thread>

static std::atomic<int> counter{0};

static void add() { counter.store(counter.load() + 1); } //~ add

int main() {
    std::thread a(add), b(add);
    a.join();
    b.join();
    assert(counter == 2); //~ here
}
