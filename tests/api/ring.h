/* A bounded queue of numbers with a lock. */
#ifndef RING_H
#define RING_H
#include <pthread.h>
#include <stdbool.h>

struct ring {
    pthread_mutex_t lock;
    pthread_cond_t filled, emptied;
    int values[2];
    unsigned first, count;
};

void ring_init(struct ring *ring);
void ring_destroy(struct ring *ring);
void ring_put(struct ring *ring, int value);
int ring_take(struct ring *ring);
bool ring_try_take(struct ring *ring, int *value);

#endif
