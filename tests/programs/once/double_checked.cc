//@ expect: assertion
//@ preemptions: 2
//@ pair: fill main
//@ pair: fill other
// The pointer is published before the object is filled.
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>

struct Settings {
    std::atomic<int> workers{0};
};

static std::mutex lock;
static std::atomic<Settings *> instance{nullptr};

static Settings &settings() {
    if (!instance) {
        std::lock_guard guard(lock);
        if (!instance) {
            instance = new Settings; //~ publish
            instance.load()->workers = 8; //~ fill
        }
    }
    return *instance;
}

int main() {
    std::thread a([] { assert(settings().workers == 8); }); //~ other
    assert(settings().workers == 8); //~ main
    a.join();
    delete instance;
}
