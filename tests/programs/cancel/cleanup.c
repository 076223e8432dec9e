//@ expect: pass
// Cancelled in a wait, in a sleep, and at a test: the handlers run in reverse order and the lock is free again.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static atomic_int order;

static void unlock(void *mutex) { pthread_mutex_unlock(mutex); }

static void note(void *step) { atomic_store(&order, atomic_load(&order) * 10 + (int)(long)step); }

static void *wait_for_ever(void *unused) {
    (void)unused;
    pthread_cleanup_push(note, (void *)2);
    pthread_mutex_lock(&lock);
    pthread_cleanup_push(unlock, &lock);
    pthread_cleanup_push(note, (void *)1);
    for (;;)
        pthread_cond_wait(&never, &lock);
    pthread_cleanup_pop(1);
    pthread_cleanup_pop(1);
    pthread_cleanup_pop(1);
    return 0;
}

static void *sleep_for_ever(void *unused) {
    (void)unused;
    for (;;)
        sleep(1000);
    return 0;
}

static void *test_for_ever(void *unused) {
    (void)unused;
    for (;;)
        pthread_testcancel();
    return 0;
}

static void *not_now(void *unused) {
    int old;
    (void)unused;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
    assert(old == PTHREAD_CANCEL_ENABLE);
    usleep(1000);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, 0);
    for (;;)
        pthread_testcancel();
    return 0;
}

int main(void) {
    void *(*bodies[4])(void *) = {wait_for_ever, sleep_for_ever, test_for_ever, not_now};
    for (int i = 0; i < 4; i++) {
        pthread_t strand;
        void *result;
        assert(pthread_create(&strand, 0, bodies[i], 0) == 0);
        assert(pthread_cancel(strand) == 0);
        assert(pthread_join(strand, &result) == 0 && result == PTHREAD_CANCELED);
        if (i == 0)
            assert(pthread_mutex_trylock(&lock) == 0 && pthread_mutex_unlock(&lock) == 0);
    }
    /* The wait is the first place where the first strand can be cancelled. */
    assert(atomic_load(&order) == 12);
    return 0;
}
