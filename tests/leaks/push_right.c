// The same with an exchange that fails when another strand came in between. What the list still has at the end is no leak.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    struct node *next;
    long value;
};

static _Atomic(struct node *) head;

static void *push(void *value) {
    struct node *node = malloc(sizeof *node);
    node->value = (long)value;
    node->next = atomic_load(&head);
    while (!atomic_compare_exchange_weak(&head, &node->next, node)) {
    }
    return NULL;
}

int main(void) {
    pthread_t strands[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&strands[i], NULL, push, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(strands[i], NULL);
}
