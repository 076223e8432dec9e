//@ expect: double-free|use-after-free
//@ max-runs: 1000
// A reference count whose decrement and test are two steps.
#include <atomic>
#include <thread>

struct Shared {
    std::atomic<int> count{2};
    int payload = 0;
};

static void release(Shared *shared) {
    shared->count--;
    if (shared->count == 0)
        delete shared;
}

int main() {
    auto *shared = new Shared;
    std::thread other(release, shared);
    release(shared);
    other.join();
}
