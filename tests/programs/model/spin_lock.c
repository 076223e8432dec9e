//@ expect: pass
//@ memory-model: c11
// A spin lock. Bugs: 1 the lock does not acquire, 2 the unlock does not release.
#include "../../model/seeded.h"

static atomic_int taken;
static int count;

static void *worker(void *unused) {
    (void)unused;
    while (atomic_exchange_explicit(&taken, 1, ORDER(1, memory_order_acquire))) {}
    count++;
    atomic_store_explicit(&taken, 0, ORDER(2, memory_order_release));
    return 0;
}

int main(void) {
    in_two(worker, worker);
    CHECK(count == 2);
    return 0;
}
