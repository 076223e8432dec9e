//@ expect: pass
// pthread_mutex_timedlock and clocklock on a held and on a free mutex.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int inside;

static struct timespec soon(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    t.tv_nsec += 2000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

static void *try_it(void *unused) {
    (void)unused;
    struct timespec deadline = soon(CLOCK_REALTIME);
    int result = pthread_mutex_timedlock(&lock, &deadline);
    assert(result == 0 || result == ETIMEDOUT);
    if (result == 0) {
        assert(++inside == 1);
        inside--;
        pthread_mutex_unlock(&lock);
    }
    deadline = soon(CLOCK_MONOTONIC);
    result = pthread_mutex_clocklock(&lock, CLOCK_MONOTONIC, &deadline);
    assert(result == 0 || result == ETIMEDOUT);
    if (result == 0) {
        assert(++inside == 1);
        inside--;
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

int main(void) {
    pthread_t a, b;
    struct timespec past = {0, 0};
    assert(pthread_mutex_timedlock(&lock, &past) == 0);
    pthread_create(&a, 0, try_it, 0);
    pthread_create(&b, 0, try_it, 0);
    assert(++inside == 1);
    inside--;
    pthread_mutex_unlock(&lock);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(pthread_mutex_trylock(&lock) == 0);
    pthread_mutex_unlock(&lock);
    return 0;
}
