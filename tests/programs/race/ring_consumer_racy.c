//@ expect: race
//@ race: put take
// A queue of one producer and one consumer whose consumer frees slots with relaxed order.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define RETURN memory_order_relaxed

int slot, sum;
atomic_uint head, tail;

static void *consume(void *arg) {
    for (int i = 0; i < 3; i++) {
        unsigned at = atomic_load_explicit(&head, memory_order_relaxed);
        while (atomic_load_explicit(&tail, memory_order_acquire) == at)
            sched_yield();
        sum += slot; //~ take
        atomic_store_explicit(&head, at + 1, RETURN);
    }
    return arg;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, consume, 0);
    for (int i = 0; i < 3; i++) {
        unsigned at = atomic_load_explicit(&tail, memory_order_relaxed);
        while (at != atomic_load_explicit(&head, memory_order_acquire))
            sched_yield();
        slot = 1; //~ put
        atomic_store_explicit(&tail, at + 1, memory_order_release);
    }
    pthread_join(strand, 0);
    return 0;
}
