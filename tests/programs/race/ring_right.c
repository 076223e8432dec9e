//@ expect: pass
// A queue of one producer and one consumer.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define PUBLISH memory_order_release
#define SLOTS 2

int slots[SLOTS], sum;
atomic_uint head, tail;

static void *produce(void *arg) {
    for (unsigned i = 0; i < 5; i++) {
        while (i - atomic_load_explicit(&head, memory_order_acquire) == SLOTS)
            sched_yield();
        slots[i % SLOTS] = 1;
        atomic_store_explicit(&tail, i + 1, PUBLISH);
    }
    return arg;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, produce, 0);
    for (unsigned i = 0; i < 5; i++) {
        while (atomic_load_explicit(&tail, memory_order_acquire) == i)
            sched_yield();
        sum += slots[i % SLOTS];
        atomic_store_explicit(&head, i + 1, memory_order_release);
    }
    pthread_join(strand, 0);
    return sum != 5;
}
