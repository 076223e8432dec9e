//@ expect: pass
// Timed waits, real-time and monotonic, that may or may not be answered in time: both ends are right.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static int flag;

static struct timespec in_ms(clockid_t clock, long ms) {
    struct timespec t;
    clock_gettime(clock, &t);
    t.tv_nsec += ms * 1000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

static void *set(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    flag = 1;
    pthread_cond_signal(&ready);
    pthread_mutex_unlock(&lock);
    return 0;
}

static int before(struct timespec a, struct timespec b) {
    return a.tv_sec < b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec < b.tv_nsec);
}

int main(void) {
    pthread_t setter;
    pthread_mutex_lock(&lock);
    /* Nobody signals yet: the wait ends by its deadline, and not before it. */
    struct timespec deadline = in_ms(CLOCK_REALTIME, 5);
    int result = 0;
    while (result == 0)
        result = pthread_cond_timedwait(&ready, &lock, &deadline);
    assert(result == ETIMEDOUT);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    assert(!before(now, deadline));
    /* A deadline in the past times out at once, with the lock held again. */
    struct timespec past = {0, 0};
    assert(pthread_cond_timedwait(&ready, &lock, &past) == ETIMEDOUT);
    assert(pthread_mutex_trylock(&lock) == EBUSY);
    struct timespec wrong = {1, 1000000000};
    assert(pthread_cond_timedwait(&ready, &lock, &wrong) == EINVAL);

    pthread_create(&setter, 0, set, 0);
    deadline = in_ms(CLOCK_MONOTONIC, 5);
    result = 0;
    while (!flag && result == 0)
        result = pthread_cond_clockwait(&ready, &lock, CLOCK_MONOTONIC, &deadline);
    assert(flag || result == ETIMEDOUT);
    while (!flag)
        pthread_cond_wait(&ready, &lock);
    pthread_mutex_unlock(&lock);
    pthread_join(setter, 0);
    return 0;
}
