//@ expect: pass
// A lock taken by a compare-exchange with acquire order.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define TAKE memory_order_acquire

atomic_int held;
int total;

static void *work(void *arg) {
    int none = 0;
    while (!atomic_compare_exchange_weak_explicit(&held, &none, 1, TAKE, memory_order_relaxed)) {
        none = 0;
        sched_yield();
    }
    total++;
    atomic_store_explicit(&held, 0, memory_order_release);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
