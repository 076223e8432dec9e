//@ expect: assertion
//@ max-runs: 6000
//@ preemptions: 1
//@ pair: pop push
// A stack by compare-and-swap on indices. A slow pop sees the same head again and restores a next that is in use.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define NONE (-1)
static atomic_int head = 0;
static atomic_int next[3] = {1, 2, NONE};
static int slow_has[2], fast_has;

static int pop(void) {
    int top = atomic_load(&head); //~ top
    while (top != NONE)
        if (atomic_compare_exchange_strong(&head, &top, atomic_load(&next[top]))) //~ pop
            break;
    return top;
}

static void push(int node) {
    int top = atomic_load(&head);
    do
        atomic_store(&next[node], top);
    while (!atomic_compare_exchange_strong(&head, &top, node)); //~ push
}

static void *slow(void *unused) {
    (void)unused;
    slow_has[0] = pop();
    slow_has[1] = pop();
    return 0;
}

static void *fast(void *unused) {
    (void)unused;
    int node = pop();
    fast_has = pop();
    if (node != NONE)
        push(node);
    return 0;
}

int main(void) {
    pthread_t x, y;
    pthread_create(&x, 0, slow, 0);
    pthread_create(&y, 0, fast, 0);
    pthread_join(x, 0);
    pthread_join(y, 0);
    assert(fast_has == NONE || (fast_has != slow_has[0] && fast_has != slow_has[1])); //~ here
    return 0;
}
