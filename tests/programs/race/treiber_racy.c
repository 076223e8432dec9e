//@ expect: race
//@ race: fill take
//@ memory-model: sc
// A lock-free stack that pushes with relaxed order.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define PUSH memory_order_relaxed

struct Node {
    struct Node *next;
    int value;
};

struct Node *_Atomic top;
struct Node nodes[4];

static void *push(void *arg) {
    struct Node *node = arg;
    for (struct Node *end = node + 2; node < end; node++) {
        node->value = 1; //~ fill
        struct Node *old = atomic_load_explicit(&top, memory_order_relaxed);
        do
            __atomic_store_n(&node->next, old, __ATOMIC_RELAXED);
        while (!atomic_compare_exchange_weak_explicit(&top, &old, node, PUSH, memory_order_relaxed));
    }
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, push, &nodes[0]);
    pthread_create(&b, 0, push, &nodes[2]);
    int sum = 0;
    while (sum < 4) {
        struct Node *node = atomic_exchange_explicit(&top, 0, memory_order_acquire);
        if (!node)
            sched_yield();
        while (node) {
            sum += node->value; //~ take
            node = __atomic_load_n(&node->next, __ATOMIC_RELAXED);
        }
    }
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
