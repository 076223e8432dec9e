//@ expect: pass
// Both strands use the variable through atomic_ref; behind the join it is a plain one again.
#include <atomic>
#include <thread>

alignas(8) int total;

int main() {
    std::thread strand([] {
        std::atomic_ref(total).fetch_add(1);
    });
    std::atomic_ref(total).fetch_add(1);
    strand.join();
    total += 1;
}
