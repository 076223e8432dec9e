//@ expect: race
//@ race: fill use
// A block that one strand allocates and fills, and another finds by a relaxed pointer.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

int *_Atomic published;
volatile size_t length = 48;

static void *work(void *arg) {
    int *block = malloc(length);
    block[3] = 1; //~ fill
    atomic_store_explicit(&published, block, memory_order_relaxed);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    int *found;
    while (!(found = atomic_load_explicit(&published, memory_order_relaxed)))
        sched_yield();
    found[3] = 2; //~ use
    pthread_join(a, 0);
    (void)b;
    return 0;
}
