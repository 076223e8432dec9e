//@ expect: pass
// Two releases in one chain of read-modify-writes: who acquires the last one has both.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

atomic_int stage;
int data, other, seen;

static void *first(void *arg) {
    data = 1;
    atomic_fetch_add_explicit(&stage, 1, memory_order_release);
    return arg;
}

static void *second(void *arg) {
    other = 1;
    while (atomic_load_explicit(&stage, memory_order_relaxed) != 1)
        sched_yield();
    atomic_fetch_add_explicit(&stage, 1, memory_order_release);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    while (atomic_load_explicit(&stage, memory_order_acquire) != 2)
        sched_yield();
    seen = data;
    seen += other;
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
