//@ expect: pass
// Both halves under one lock.
#include <assert.h>
#include <pthread.h>

static struct {
    pthread_mutex_t lock;
    int low, high;
} pair = {PTHREAD_MUTEX_INITIALIZER, 0, 0};

static void *update(void *arg) {
    pthread_mutex_lock(&pair.lock);
    pair.low += (int)(long)arg;
    pair.high += (int)(long)arg;
    pthread_mutex_unlock(&pair.lock);
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, update, (void *)1);
    pthread_create(&b, 0, update, (void *)2);
    pthread_mutex_lock(&pair.lock);
    assert(pair.low == pair.high);
    pthread_mutex_unlock(&pair.lock);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(pair.low == 3 && pair.high == 3);
    return 0;
}
