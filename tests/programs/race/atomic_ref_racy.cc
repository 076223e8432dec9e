//@ expect: race
//@ race: bump plain
// One strand uses the variable through atomic_ref, the other directly.
#include <atomic>
#include <thread>

alignas(8) int total;

int main() {
    std::thread strand([] {
        std::atomic_ref(total).fetch_add(1); //~ bump
    });
    total += 1; //~ plain
    strand.join();
}
