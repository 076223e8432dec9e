//@ expect: pass
// The release and the acquire name the same address.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

void __tsan_acquire(void *) __attribute__((weak));
void __tsan_release(void *) __attribute__((weak));

atomic_int ready;
int data, other, seen;

static void *work(void *arg) {
    data = 1;
    if (__tsan_release)
        __tsan_release(&other);
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    return arg;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    while (!atomic_load_explicit(&ready, memory_order_relaxed))
        sched_yield();
    if (__tsan_acquire)
        __tsan_acquire(&other);
    seen = data;
    pthread_join(strand, 0);
    return 0;
}
