//@ expect: pass
// The destructor of a static object waits for the strand that uses it.
#include <atomic>
#include <cassert>
#include <thread>

struct Registry {
    std::atomic<bool> open{true};
    std::thread strand;
    ~Registry() {
        strand.join();
        open.store(false);
    }
};

static Registry registry;

int main() {
    registry.strand = std::thread([] {
        for (int at = 0; at < 3; at++) assert(registry.open.load());
    });
    return 0;
}
