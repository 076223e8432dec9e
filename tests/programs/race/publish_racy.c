//@ expect: race
//@ race: fill use
// A flag with relaxed order publishes nothing.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

atomic_int ready;
int data, seen;

static void *work(void *arg) {
    data = 1; //~ fill
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
