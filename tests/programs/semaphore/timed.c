//@ expect: pass
// sem_timedwait and sem_clockwait: in time or not, a permit is never lost.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>

static sem_t permits;
static atomic_int taken;

static void *take(void *arg) {
    clockid_t clock = (clockid_t)(long)arg;
    struct timespec t;
    clock_gettime(clock, &t);
    t.tv_nsec += 1000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    int result = clock == CLOCK_REALTIME ? sem_timedwait(&permits, &t) : sem_clockwait(&permits, clock, &t);
    if (result == 0)
        atomic_fetch_add(&taken, 1);
    else
        assert(result == -1 && errno == ETIMEDOUT);
    return 0;
}

int main(void) {
    pthread_t a, b;
    sem_init(&permits, 0, 0);
    pthread_create(&a, 0, take, (void *)CLOCK_REALTIME);
    pthread_create(&b, 0, take, (void *)CLOCK_MONOTONIC);
    sem_post(&permits);
    pthread_join(a, 0);
    pthread_join(b, 0);
    int left = -1;
    sem_getvalue(&permits, &left);
    assert(left + atomic_load(&taken) == 1);
    return 0;
}
