//@ expect: pass
//@ memory-model: c11
// A deque of Chase and Lev's, after Lê, Pop, Cohen and Zappa Nardelli (PPoPP 2013). Bugs: 1 no release fence in push, 2 no fence in take, 3 no fence in steal,
// 4 the thief's look at the bottom is relaxed.
#include "../../model/seeded.h"

enum { SIZE = 4, EMPTY = 0 };

static atomic_long top, bottom;
static atomic_int items[SIZE];
static atomic_int got[3];

static void push(int item) {
    long b = atomic_load_explicit(&bottom, memory_order_relaxed);
    atomic_store_explicit(&items[b % SIZE], item, memory_order_relaxed);
    FENCE(1, memory_order_release);
    atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
}

static int take(void) {
    long b = atomic_load_explicit(&bottom, memory_order_relaxed) - 1;
    atomic_store_explicit(&bottom, b, memory_order_relaxed);
    FENCE(2, memory_order_seq_cst);
    long t = atomic_load_explicit(&top, memory_order_relaxed);
    int item = EMPTY;
    if (t <= b) {
        item = atomic_load_explicit(&items[b % SIZE], memory_order_relaxed);
        if (t == b) {
            if (!atomic_compare_exchange_strong_explicit(&top, &t, t + 1, memory_order_seq_cst, memory_order_relaxed))
                item = EMPTY;
            atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
        }
    } else {
        atomic_store_explicit(&bottom, b + 1, memory_order_relaxed);
    }
    return item;
}

static int steal(void) {
    long t = atomic_load_explicit(&top, memory_order_acquire);
    FENCE(3, memory_order_seq_cst);
    long b = atomic_load_explicit(&bottom, ORDER(4, memory_order_acquire));
    if (t >= b) return EMPTY;
    int item = atomic_load_explicit(&items[t % SIZE], memory_order_relaxed);
    if (!atomic_compare_exchange_strong_explicit(&top, &t, t + 1, memory_order_seq_cst, memory_order_relaxed))
        return EMPTY;
    CHECK(item != EMPTY);
    return item;
}

static void use(int item) {
    if (item != EMPTY) CHECK(atomic_fetch_add(&got[item], 1) == 0);
}

static void *owner(void *unused) {
    (void)unused;
    push(1);
    push(2);
    use(take());
    use(take());
    return 0;
}

static void *thief(void *unused) {
    (void)unused;
    use(steal());
    use(steal());
    return 0;
}

int main(void) {
    in_two(owner, thief);
    return 0;
}
