//@ expect: assertion
//@ max-runs: 100
// The destructor of a static object runs while a detached strand still uses it.
#include <atomic>
#include <cassert>
#include <thread>

struct Registry {
    std::atomic<bool> open{true};
    ~Registry() { open.store(false); }
};

static Registry registry;

int main() {
    std::thread([] {
        for (int at = 0; at < 3; at++) assert(registry.open.load()); //~ here
    }).detach();
    return 0;
}
