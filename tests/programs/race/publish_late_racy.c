//@ expect: race
//@ race: fill use
// What is written after the release store is not published by it.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

atomic_int ready;
int data, seen;

static void *work(void *arg) {
    atomic_store_explicit(&ready, 1, memory_order_release);
    data = 1; //~ fill
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
