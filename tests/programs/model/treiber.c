//@ expect: pass
//@ memory-model: c11
// A stack of Treiber's with hazard pointers, after Michael. Bugs: 1 no fence between the hazard and the second look, 2 no fence before hazards are
// looked at, 3 the push does not release.
#include "../../model/seeded.h"

struct node {
    struct node *next;
    int value;
};

static _Atomic(struct node *) top;
static _Atomic(struct node *) hazards[2];

static void push(int value) {
    struct node *node = malloc(sizeof *node);
    node->value = value;
    node->next = atomic_load_explicit(&top, memory_order_relaxed);
    while (!atomic_compare_exchange_strong_explicit(&top, &node->next, node, ORDER(3, memory_order_release),
                                                    memory_order_relaxed)) {}
}

static int pop(long me) {
    for (;;) {
        struct node *node = atomic_load_explicit(&top, memory_order_relaxed);
        if (!node) return 0;
        atomic_store_explicit(&hazards[me], node, memory_order_release);
        FENCE(1, memory_order_seq_cst);
        if (atomic_load_explicit(&top, memory_order_acquire) != node) continue;
        struct node *next = node->next;
        struct node *found = node;
        if (!atomic_compare_exchange_strong_explicit(&top, &found, next, memory_order_acq_rel, memory_order_relaxed))
            continue;
        int value = node->value;
        atomic_store_explicit(&hazards[me], NULL, memory_order_release);
        FENCE(2, memory_order_seq_cst);
        // One that the other strand may still look at is not freed.
        if (atomic_load_explicit(&hazards[1 - me], memory_order_acquire) != node) free(node);
        return value;
    }
}

static void *worker(void *which) {
    pop((long)which);
    return 0;
}

static void *pusher(void *which) {
    push(2);
    pop((long)which);
    return 0;
}

int main(void) {
    push(1);
    in_two(pusher, worker);
    return 0;
}
