//@ expect: pass
// lost_read.c with a lock.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int shared;

static void *looks(void *unused) {
    pthread_mutex_lock(&lock);
    int seen = shared;
    shared = seen + 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *counts(void *unused) {
    pthread_mutex_lock(&lock);
    int found = shared;
    shared = found + 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, 0, looks, 0);
    pthread_create(&second, 0, counts, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    assert(shared == 2);
    return 0;
}
