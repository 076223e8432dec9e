//@ expect: race
//@ race: zero use
// The zeros of a fresh block are written by the strand that asked for it.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#define PUBLISH memory_order_relaxed

int *_Atomic published;
volatile size_t length = 4000;
volatile int seen;

static void *work(void *arg) {
    int *block = calloc(1, length); //~ zero
    atomic_store_explicit(&published, block, PUBLISH);
    return arg;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    int *found;
    while (!(found = atomic_load_explicit(&published, memory_order_acquire)))
        sched_yield();
    seen = found[500]; //~ use
    pthread_join(strand, 0);
    free(found);
    return 0;
}
