//@ expect: race
//@ race: fill use
// A release fence before the data instead of behind them.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

atomic_int other, ready;
int data, seen;

static void *work(void *arg) {
    atomic_thread_fence(memory_order_release);
    data = 1; //~ fill
    atomic_store_explicit(&other, 1, memory_order_relaxed);
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    return arg;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    while (!atomic_load_explicit(&ready, memory_order_acquire))
        sched_yield();
    seen = data; //~ use
    pthread_join(strand, 0);
    return 0;
}
