//@ expect: pass
//@ runs: 40
//@ timeout: 60s
// Forty strands stand before each of several objects at once: they are enabled and disabled together, one by one they
// leave by a lock, a wake, a deadline or a signal, and nobody is let in twice or forgotten.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>

enum { STRANDS = 40 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t both = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t turn = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t places;
static int inside, writers, readers, tokens = 1, taken, handled;

static void handler(int number) {
    (void)number;
    __atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED);
}

static void under_lock(long me) {
    int result = 0;
    if (me % 8 == 3) {
        struct timespec soon;
        clock_gettime(CLOCK_REALTIME, &soon);
        soon.tv_nsec += 1000;
        if (soon.tv_nsec >= 1000000000) {
            soon.tv_nsec -= 1000000000;
            soon.tv_sec++;
        }
        result = pthread_mutex_timedlock(&lock, &soon);
    } else if (me % 8 == 5) {
        result = pthread_mutex_trylock(&lock);
    } else {
        pthread_mutex_lock(&lock);
    }
    if (result != 0) {
        assert(result == ETIMEDOUT || result == EBUSY);
        return;
    }
    assert(inside++ == 0);
    assert(--inside == 0);
    pthread_mutex_unlock(&lock);
}

static void read_or_write(long me) {
    if (me % 5 == 0) {
        pthread_rwlock_wrlock(&both);
        assert(__atomic_fetch_add(&writers, 1, __ATOMIC_RELAXED) == 0 && __atomic_load_n(&readers, __ATOMIC_RELAXED) == 0);
        __atomic_fetch_sub(&writers, 1, __ATOMIC_RELAXED);
    } else {
        pthread_rwlock_rdlock(&both);
        __atomic_fetch_add(&readers, 1, __ATOMIC_RELAXED);
        assert(__atomic_load_n(&writers, __ATOMIC_RELAXED) == 0);
        __atomic_fetch_sub(&readers, 1, __ATOMIC_RELAXED);
    }
    pthread_rwlock_unlock(&both);
}

static void *work(void *argument) {
    long me = (long)argument;
    pthread_barrier_wait(&barrier);
    under_lock(me);
    read_or_write(me);
    while (sem_wait(&places) != 0)
        assert(errno == EINTR);
    int here = __atomic_fetch_add(&taken, 1, __ATOMIC_RELAXED);
    assert(here < 3);
    __atomic_fetch_sub(&taken, 1, __ATOMIC_RELAXED);
    sem_post(&places);
    pthread_mutex_lock(&gate);
    while (tokens == 0)
        pthread_cond_wait(&turn, &gate);
    tokens--;
    pthread_mutex_unlock(&gate);
    pthread_mutex_lock(&gate);
    tokens++;
    if (me % 4 == 0)
        pthread_cond_broadcast(&turn);
    else
        pthread_cond_signal(&turn);
    pthread_mutex_unlock(&gate);
    return argument;
}

int main(void) {
    struct sigaction action = {.sa_handler = handler};
    sigaction(SIGUSR1, &action, NULL);
    pthread_barrier_init(&barrier, NULL, STRANDS + 1);
    sem_init(&places, 0, 3);
    pthread_t strands[STRANDS];
    for (long i = 0; i < STRANDS; i++)
        pthread_create(&strands[i], NULL, work, (void *)i);
    pthread_mutex_lock(&lock);
    pthread_barrier_wait(&barrier);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < STRANDS; i += 7)
        pthread_kill(strands[i], SIGUSR1);
    for (long i = 0; i < STRANDS; i++) {
        void *result;
        pthread_join(strands[i], &result);
        assert(result == (void *)i);
    }
    assert(tokens == 1 && taken == 0 && inside == 0 && handled <= STRANDS);
    return 0;
}
