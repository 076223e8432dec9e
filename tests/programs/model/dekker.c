//@ expect: pass
//@ memory-model: c11
// Dekker's lock with fences. Bugs: 1 no sequentially consistent fence, 2 no acquire fence, 3 no release fence.
#include "../../model/seeded.h"

static atomic_int wants[2], turn;
static int count;

static int get(atomic_int *at) { return atomic_load_explicit(at, memory_order_relaxed); }
static void set(atomic_int *at, int value) { atomic_store_explicit(at, value, memory_order_relaxed); }

static void *worker(void *which) {
    long me = (long)which, other = 1 - me;
    set(&wants[me], 1);
    FENCE(1, memory_order_seq_cst);
    while (get(&wants[other])) {
        if (get(&turn) != me) {
            set(&wants[me], 0);
            while (get(&turn) != me) {}
            set(&wants[me], 1);
            FENCE(1, memory_order_seq_cst);
        }
    }
    FENCE(2, memory_order_acquire);
    count++;
    set(&turn, (int)other);
    FENCE(3, memory_order_release);
    set(&wants[me], 0);
    return 0;
}

int main(void) {
    in_two(worker, worker);
    CHECK(count == 2);
    return 0;
}
