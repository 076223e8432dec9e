//@ expect: pass
//@ memory-model: c11
// A ring with one producer and one consumer. Bugs: 1 the producer does not release what it put in, 2 the consumer does not acquire it, 3 the consumer
// does not release the slot, 4 the producer does not acquire it.
#include "../../model/seeded.h"

enum { SLOTS = 2, ITEMS = 4 };

static int slots[SLOTS];
static atomic_uint head, tail;

static void *producer(void *unused) {
    (void)unused;
    for (unsigned at = 0; at < ITEMS; at++) {
        while (at - atomic_load_explicit(&head, ORDER(4, memory_order_acquire)) == SLOTS) {}
        slots[at % SLOTS] = (int)at + 1;
        atomic_store_explicit(&tail, at + 1, ORDER(1, memory_order_release));
    }
    return 0;
}

static void *consumer(void *unused) {
    (void)unused;
    for (unsigned at = 0; at < ITEMS; at++) {
        while (atomic_load_explicit(&tail, ORDER(2, memory_order_acquire)) == at) {}
        int item = slots[at % SLOTS];
        atomic_store_explicit(&head, at + 1, ORDER(3, memory_order_release));
        CHECK(item == (int)at + 1);
    }
    return 0;
}

int main(void) {
    in_two(producer, consumer);
    return 0;
}
