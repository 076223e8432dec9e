//@ expect: pass
// Cancellation and pthread_exit unwind C++ frames: destructors run, and a catch-all must pass it on.
#include <atomic>
#include <cassert>
#include <pthread.h>
#include <unistd.h>

static std::atomic<int> destroyed{0}, caught{0};

struct Guard {
    ~Guard() { destroyed++; }
};

static void *sleeper(void *) {
    Guard outer;
    try {
        Guard inner;
        for (;;)
            pause();
    } catch (...) {
        caught++;
        throw;
    }
}

static void leave() {
    Guard guard;
    pthread_exit(reinterpret_cast<void *>(7));
}

static void *leaver(void *) {
    Guard guard;
    leave();
    return nullptr;
}

int main() {
    pthread_t a, b;
    void *x, *y;
    pthread_create(&a, nullptr, sleeper, nullptr);
    pthread_create(&b, nullptr, leaver, nullptr);
    pthread_cancel(a);
    pthread_join(a, &x);
    pthread_join(b, &y);
    assert(x == PTHREAD_CANCELED && y == reinterpret_cast<void *>(7));
    assert(destroyed == 4 && caught == 1);
}
