//@ expect: pass
//@ runs: 100
//@ bare: any
// A lock-free stack of slots in an array. A pop takes the link out of the top slot before it moves the head, so that two pops
// of one slot cannot both succeed; but a slot that was popped and pushed again in between has its link back. It takes three
// strands and at least seven preemptions to see, so it passes here; `cargo xtask bench search` looks for it.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define STRANDS 3
#define ROUNDS 2
#define SLOTS 3

static struct {
    volatile int owner;
    atomic_int link;
} slots[SLOTS];
static atomic_int top;
static atomic_int left = SLOTS;

static int pop(void) {
    while (atomic_load(&left) > 1) {
        int seen = atomic_load(&top);
        int link = atomic_exchange(&slots[seen].link, -1);
        if (link < 0)
            continue;
        int expected = seen;
        if (atomic_compare_exchange_strong(&top, &expected, link)) {
            atomic_fetch_sub(&left, 1);
            return seen;
        }
        atomic_exchange(&slots[seen].link, link);
    }
    return -1;
}

static void push(int slot) {
    int seen = atomic_load(&top);
    do
        atomic_store(&slots[slot].link, seen);
    while (!atomic_compare_exchange_strong(&top, &seen, slot));
    atomic_fetch_add(&left, 1);
}

static void *work(void *arg) {
    int me = (int)(long)arg;
    for (int round = 0; round < ROUNDS; round++) {
        int slot;
        while ((slot = pop()) < 0)
            sched_yield();
        slots[slot].owner = me;
        assert(slots[slot].owner == me); //~ here
        push(slot);
    }
    return 0;
}

int main(void) {
    pthread_t strands[STRANDS];
    for (int i = 0; i < SLOTS; i++)
        atomic_store(&slots[i].link, i + 1 < SLOTS ? i + 1 : -1);
    for (long i = 0; i < STRANDS; i++)
        pthread_create(&strands[i], 0, work, (void *)i);
    for (int i = 0; i < STRANDS; i++)
        pthread_join(strands[i], 0);
    return 0;
}
