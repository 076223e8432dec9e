//@ expect: assertion
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
            instance = new Settings;
            instance.load()->workers = 8;
        }
    }
    return *instance;
}

int main() {
    std::thread a([] { assert(settings().workers == 8); });
    assert(settings().workers == 8);
    a.join();
    delete instance;
}
