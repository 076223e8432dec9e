//@ expect: pass
// Readers share, writers do not; try and timed variants fail only when they must.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int left, right;
static atomic_int readers, writers;

static void *read_both(void *unused) {
    (void)unused;
    for (int i = 0; i < 2; i++) {
        assert(pthread_rwlock_rdlock(&lock) == 0);
        atomic_fetch_add(&readers, 1);
        assert(atomic_load(&writers) == 0 && left == right);
        atomic_fetch_sub(&readers, 1);
        assert(pthread_rwlock_unlock(&lock) == 0);
    }
    return 0;
}

static void *write_both(void *unused) {
    (void)unused;
    assert(pthread_rwlock_wrlock(&lock) == 0);
    assert(atomic_fetch_add(&writers, 1) == 0 && atomic_load(&readers) == 0);
    left++;
    right++;
    atomic_fetch_sub(&writers, 1);
    assert(pthread_rwlock_unlock(&lock) == 0);
    return 0;
}

int main(void) {
    pthread_t strands[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&strands[i], 0, i % 2 ? write_both : read_both, 0);
    for (int i = 0; i < 4; i++)
        pthread_join(strands[i], 0);
    assert(left == 2 && right == 2);

    struct timespec past = {0, 0};
    assert(pthread_rwlock_rdlock(&lock) == 0 && pthread_rwlock_tryrdlock(&lock) == 0);
    assert(pthread_rwlock_trywrlock(&lock) == EBUSY);
    assert(pthread_rwlock_timedwrlock(&lock, &past) == ETIMEDOUT);
    pthread_rwlock_unlock(&lock);
    pthread_rwlock_unlock(&lock);
    assert(pthread_rwlock_trywrlock(&lock) == 0);
    assert(pthread_rwlock_tryrdlock(&lock) == EBUSY && pthread_rwlock_trywrlock(&lock) == EBUSY);
    pthread_rwlock_unlock(&lock);
    assert(pthread_rwlock_clockrdlock(&lock, CLOCK_MONOTONIC, &past) == 0);
    pthread_rwlock_unlock(&lock);
    assert(pthread_rwlock_destroy(&lock) == 0);
    return 0;
}
