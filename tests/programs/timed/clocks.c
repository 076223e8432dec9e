//@ expect: pass
// Clocks never go back, a sleep takes at least its time, and all of them agree on it.
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int64_t ns(clockid_t clock) {
    struct timespec t;
    assert(clock_gettime(clock, &t) == 0);
    assert(t.tv_nsec >= 0 && t.tv_nsec < 1000000000);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void *nap(void *arg) {
    int64_t before = ns(CLOCK_MONOTONIC);
    usleep((unsigned)(long)arg);
    assert(ns(CLOCK_MONOTONIC) - before >= (long)arg * 1000);
    return 0;
}

int main(void) {
    struct timespec resolution;
    assert(clock_getres(CLOCK_MONOTONIC, &resolution) == 0);
    int64_t mono = ns(CLOCK_MONOTONIC), real = ns(CLOCK_REALTIME);
    assert(real > 0 && ns(CLOCK_BOOTTIME) > 0 && ns(CLOCK_MONOTONIC_COARSE) > 0);

    pthread_t a, b;
    pthread_create(&a, 0, nap, (void *)3000);
    pthread_create(&b, 0, nap, (void *)1000);
    struct timespec two_ms = {0, 2000000}, left = {9, 9};
    assert(nanosleep(&two_ms, &left) == 0);
    assert(ns(CLOCK_MONOTONIC) - mono >= 2000000 && ns(CLOCK_REALTIME) - real >= 1900000);

    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += until.tv_nsec / 999000000;
    until.tv_nsec = (until.tv_nsec + 1000000) % 1000000000;
    assert(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, 0) == 0);
    assert(ns(CLOCK_MONOTONIC) >= (int64_t)until.tv_sec * 1000000000 + until.tv_nsec);

    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(ns(CLOCK_MONOTONIC) - mono >= 3000000);
    struct timeval tv;
    assert(gettimeofday(&tv, 0) == 0);
    assert((int64_t)tv.tv_sec >= real / 1000000000);
    assert(time(0) >= real / 1000000000 - 1);
    return 0;
}
