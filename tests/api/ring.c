/* With FAULT a taker wakes whoever waits first, be it another taker. */
#include "ring.h"

void ring_init(struct ring *ring) {
    pthread_mutex_init(&ring->lock, NULL);
    pthread_cond_init(&ring->filled, NULL);
    pthread_cond_init(&ring->emptied, NULL);
    ring->first = ring->count = 0;
}

void ring_destroy(struct ring *ring) {
    pthread_mutex_destroy(&ring->lock);
    pthread_cond_destroy(&ring->filled);
    pthread_cond_destroy(&ring->emptied);
}

void ring_put(struct ring *ring, int value) {
    pthread_mutex_lock(&ring->lock);
    while (ring->count == 2)
        pthread_cond_wait(&ring->emptied, &ring->lock);
    ring->values[(ring->first + ring->count++) % 2] = value;
#ifdef FAULT
    if (ring->count == 1)
#endif
        pthread_cond_signal(&ring->filled);
    pthread_mutex_unlock(&ring->lock);
}

static int taken(struct ring *ring) {
    int value = ring->values[ring->first];
    ring->first = (ring->first + 1) % 2;
    ring->count--;
    pthread_cond_signal(&ring->emptied);
    return value;
}

int ring_take(struct ring *ring) {
    pthread_mutex_lock(&ring->lock);
    while (ring->count == 0)
        pthread_cond_wait(&ring->filled, &ring->lock);
    int value = taken(ring);
    pthread_mutex_unlock(&ring->lock);
    return value;
}

bool ring_try_take(struct ring *ring, int *value) {
    pthread_mutex_lock(&ring->lock);
    bool some = ring->count > 0;
    if (some)
        *value = taken(ring);
    pthread_mutex_unlock(&ring->lock);
    return some;
}
