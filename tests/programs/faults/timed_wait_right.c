// A wait may end without a signal: the condition is to be looked at again.
//@ expect: pass
//@ runs: 300
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ready;

static void *set(void *unused) {
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t setter;
    struct timespec limit;
    int result = 0;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 100;
    pthread_create(&setter, NULL, set, NULL);
    pthread_mutex_lock(&lock);
    while (!ready && result == 0) result = pthread_cond_timedwait(&changed, &lock, &limit);
    assert(ready || result == ETIMEDOUT);
    pthread_mutex_unlock(&lock);
    pthread_join(setter, NULL);
    return 0;
}
