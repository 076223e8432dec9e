//@ expect: pass
//@ memory-model: c11
// Peterson's lock, after Williams. Bugs: 1 the turn is stored, not exchanged, 2 the look at the other's flag is relaxed, 3 the unlock is relaxed.
#include "../../model/seeded.h"

static atomic_int flags[2], turn;
static int count;

static void *worker(void *which) {
    long me = (long)which, other = 1 - me;
    atomic_store_explicit(&flags[me], 1, memory_order_relaxed);
    if (BUG == 1)
        atomic_store_explicit(&turn, (int)other, memory_order_release);
    else
        atomic_exchange_explicit(&turn, (int)other, memory_order_acq_rel);
    while (atomic_load_explicit(&flags[other], ORDER(2, memory_order_acquire)) &&
           atomic_load_explicit(&turn, memory_order_acquire) == other) {}
    count++;
    atomic_store_explicit(&flags[me], 0, ORDER(3, memory_order_release));
    return 0;
}

int main(void) {
    in_two(worker, worker);
    CHECK(count == 2);
    return 0;
}
