// Two strands put nodes in front of a list; one that comes in between is overwritten, and nothing leads to its node any more.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    struct node *next;
    long value;
};

static _Atomic(struct node *) head;

static void *push(void *value) {
    struct node *node = malloc(sizeof *node); //~ here
    node->value = (long)value;
    node->next = atomic_load(&head);
    atomic_store(&head, node);
    return NULL;
}

int main(void) {
    pthread_t strands[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&strands[i], NULL, push, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(strands[i], NULL);
    for (struct node *node = atomic_load(&head), *next; node; node = next) {
        next = node->next;
        free(node);
    }
}
