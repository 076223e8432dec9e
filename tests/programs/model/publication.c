//@ expect: pass
//@ flags: -DRIGHT
// A structure with an atomic field is published by an atomic pointer: in four shapes, right or relaxed.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifndef SHAPE
#define SHAPE 1
#endif
#ifdef RIGHT
enum { PUBLISH = memory_order_release, LOOK = memory_order_acquire };
#else
enum { PUBLISH = memory_order_relaxed, LOOK = memory_order_relaxed };
#endif

struct node {
    atomic_int count;
    int data;
};

static _Atomic(struct node *) published;
static struct node nodes[4];

static struct node *make(void) {
#if SHAPE == 1
    struct node *node = malloc(sizeof *node);
    atomic_init(&node->count, 1);
#elif SHAPE == 2
    struct node *node = calloc(1, sizeof *node);
#elif SHAPE == 3
    struct node *node = malloc(sizeof *node);
    *(int *)&node->count = 1;
#else
    struct node *node = &nodes[2];
    *(int *)&node->count = 5;
#endif
    node->data = 42;
    return node;
}

static void *writer(void *unused) {
    (void)unused;
    atomic_store_explicit(&published, make(), PUBLISH);
    return 0;
}

static void *reader(void *unused) {
    (void)unused;
    struct node *node = atomic_load_explicit(&published, LOOK);
    if (node && atomic_load_explicit(&node->count, memory_order_acquire) < 7) return (void *)(long)node->data;
    return 0;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, writer, 0);
    pthread_create(&other, 0, reader, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    return 0;
}
