//@ expect: pass
//@ memory-model: c11
// A sequence lock, after Boehm (MSPC 2012). Bugs: 1 no release fence behind the first count, 2 the second count is relaxed, 3 the
// reader's first look is relaxed, 4 no acquire fence before its second.
#include "../../model/seeded.h"

static atomic_int count, one, other;

static void *writer(void *unused) {
    (void)unused;
    atomic_store_explicit(&count, 1, memory_order_relaxed);
    FENCE(1, memory_order_release);
    atomic_store_explicit(&one, 7, memory_order_relaxed);
    atomic_store_explicit(&other, 7, memory_order_relaxed);
    atomic_store_explicit(&count, 2, ORDER(2, memory_order_release));
    return 0;
}

static void *reader(void *unused) {
    (void)unused;
    int before = atomic_load_explicit(&count, ORDER(3, memory_order_acquire));
    int a = atomic_load_explicit(&one, memory_order_relaxed);
    int b = atomic_load_explicit(&other, memory_order_relaxed);
    FENCE(4, memory_order_acquire);
    int after = atomic_load_explicit(&count, memory_order_relaxed);
    if (before == after && before % 2 == 0) CHECK(a == b && a == (before ? 7 : 0));
    return 0;
}

int main(void) {
    in_two(writer, reader);
    return 0;
}
