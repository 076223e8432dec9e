//@ expect: crash
//@ bare: fail
//@ message: uncaught exception std::runtime_error: no money
// One that is caught comes before; what is told is where the other is thrown, though the stack is unwound by then.
#include <stdexcept>
#include <thread>

static void pay(int amount) {
    if (amount > 100)
        throw std::runtime_error("no money"); //~ here
}

static void work(int amount) noexcept { pay(amount); }

int main() {
    try {
        throw 1;
    } catch (int) {
    }
    std::thread strand(work, 200);
    strand.join();
    return 0;
}
