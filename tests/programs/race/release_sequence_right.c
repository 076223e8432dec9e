//@ expect: pass
// A relaxed addition by another strand carries a release sequence on.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

atomic_int stage;
int data, seen;

static void *fill(void *arg) {
    data = 1;
    atomic_store_explicit(&stage, 1, memory_order_release);
    return arg;
}

static void *pass(void *arg) {
    while (atomic_load_explicit(&stage, memory_order_relaxed) != 1)
        sched_yield();
    atomic_fetch_add_explicit(&stage, 1, memory_order_relaxed);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, fill, 0);
    pthread_create(&b, 0, pass, 0);
    while (atomic_load_explicit(&stage, memory_order_acquire) != 2)
        sched_yield();
    seen = data;
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
