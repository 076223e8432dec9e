//@ expect: assertion
//@ bare: any
// The poll of a C++ program: a method with a bound, called in two places; one of the callers does not look at what it says.
#include <atomic>
#include <cassert>
#include <thread>

class Gate {
public:
    bool passed(int looks) const {
        while (looks-- > 0) {
            if (open_.load(std::memory_order_acquire)) return true;
            std::this_thread::yield();
        }
        return false;
    }
    void open() { open_.store(true, std::memory_order_release); }

private:
    std::atomic<bool> open_{false};
};

static Gate gate;
static int value;

int main() {
    std::thread careful([] {
        if (gate.passed(9)) assert(value == 1);
    });
    std::thread hasty([] {
        gate.passed(20);
        if (!gate.passed(20)) assert(!"not open"); //~ here
    });
    value = 1;
    gate.open();
    careful.join();
    hasty.join();
}
