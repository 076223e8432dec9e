//@ expect: pass
// A sequence lock around relaxed atomics.
#include <pthread.h>
#include <stdatomic.h>

typedef atomic_int Value;

atomic_uint sequence;
Value x;
volatile int seen;

static void *write_them(void *arg) {
    for (int i = 1; i < 3; i++) {
        atomic_store_explicit(&sequence, 2 * i - 1, memory_order_relaxed);
        atomic_thread_fence(memory_order_release);
        atomic_store_explicit(&x, i, memory_order_relaxed);
        atomic_store_explicit(&sequence, 2 * i, memory_order_release);
    }
    return arg;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, write_them, 0);
    for (int tries = 0; tries < 3; tries++) {
        unsigned before = atomic_load_explicit(&sequence, memory_order_acquire);
        int copy = atomic_load_explicit(&x, memory_order_relaxed);
        atomic_thread_fence(memory_order_acquire);
        if (before % 2 == 0 && atomic_load_explicit(&sequence, memory_order_relaxed) == before)
            seen = copy;
    }
    pthread_join(strand, 0);
    return 0;
}
