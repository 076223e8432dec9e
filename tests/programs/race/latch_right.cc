//@ expect: pass
// What came before count_down is there behind wait.
#include <latch>
#include <thread>

int data, seen;

int main() {
    std::latch latch(1);
    std::thread strand([&latch] {
        data = 1;
        latch.count_down();
    });
    latch.wait();
    seen = data;
    strand.join();
}
