//@ expect: race
//@ race: fill use
// The latch is counted down before the data are there.
#include <latch>
#include <thread>

int data, seen;

int main() {
    std::latch latch(1);
    std::thread strand([&latch] {
        latch.count_down();
        data = 1; //~ fill
    });
    latch.wait();
    seen = data; //~ use
    strand.join();
}
