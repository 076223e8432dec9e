// A stack without locks whose pop does not see that the head was taken and put back.
//@ expect: assertion
//@ max-runs: 2000
//@ pair: head swap
//@ pair: next swap
//@ pair: swap swap
//@ pair: head push
//@ pair: next push
//@ pair: swap push
//@ pair: take give
//@ pair: link swap
//@ pattern: check-then-act|lost-update
//@ object: head|nodes[0].next|nodes[1].next
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static struct node {
    struct node *_Atomic next;
    atomic_int taken;
} nodes[2];
static struct node *_Atomic head;

static struct node *pop(void) {
    for (;;) {
        struct node *first = atomic_load(&head); //~ head
        if (!first) return NULL;
        struct node *rest = atomic_load(&first->next); //~ next
        if (atomic_compare_exchange_strong(&head, &first, rest)) { //~ swap
            int before = atomic_fetch_add(&first->taken, 1); //~ take
            assert(before == 0); //~ end
            return first;
        }
    }
}

static void push(struct node *node) {
    atomic_fetch_sub(&node->taken, 1); //~ give
    struct node *first = atomic_load(&head); //~ look
    do {
        atomic_store(&node->next, first); //~ link
    } while (!atomic_compare_exchange_strong(&head, &first, node)); //~ push
}

static void *once(void *arg) {
    pop();
    pop();
    return arg;
}

static void *again(void *arg) {
    struct node *one = pop();
    pop();
    if (one) push(one);
    return arg;
}

int main(void) {
    pthread_t x, y;
    nodes[0].next = &nodes[1];
    head = &nodes[0];
    pthread_create(&x, 0, once, 0);
    pthread_create(&y, 0, again, 0);
    pthread_join(x, 0);
    pthread_join(y, 0);
    return 0;
}
