// Whoever waits looks at the flag under the lock; whoever opens sets it without.

#include "latch.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct latch {
    pthread_mutex_t lock;
    pthread_cond_t opened;
    atomic_bool is_open;
};

struct latch *latch_new(void) {
    struct latch *latch = calloc(1, sizeof *latch);
    pthread_mutex_init(&latch->lock, NULL);
    pthread_cond_init(&latch->opened, NULL);
    return latch;
}

void latch_free(struct latch *latch) {
    pthread_mutex_destroy(&latch->lock);
    pthread_cond_destroy(&latch->opened);
    free(latch);
}

void latch_open(struct latch *latch) {
    atomic_store(&latch->is_open, 1);
    pthread_cond_broadcast(&latch->opened);
}

void latch_wait(struct latch *latch) {
    pthread_mutex_lock(&latch->lock);
    while (!atomic_load(&latch->is_open))
        pthread_cond_wait(&latch->opened, &latch->lock);
    pthread_mutex_unlock(&latch->lock);
}
