//@ expect: race
//@ race: fill use
// A pointer loaded with relaxed order.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

int data, seen;
int *_Atomic published;

static void *work(void *arg) {
    data = 1; //~ fill
    atomic_store_explicit(&published, &data, memory_order_release);
    return arg;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    int *found;
    while (!(found = atomic_load_explicit(&published, memory_order_relaxed)))
        sched_yield();
    seen = *found; //~ use
    pthread_join(strand, 0);
    return 0;
}
