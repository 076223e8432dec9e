//@ expect: assertion
//@ preemptions: 0
//@ pair: finish here
// One strand of three is detached instead of joined.
#include <atomic>
#include <cassert>
#include <thread>

static std::atomic<int> finished{0};

int main() {
    std::thread a([] { finished++; }), b([] { finished++; }), c([] { finished++; }); //~ finish
    a.join();
    b.detach();
    c.join();
    assert(finished == 3); //~ here
}
