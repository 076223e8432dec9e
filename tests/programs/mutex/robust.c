//@ expect: pass
// The owner of a robust mutex dies: the next gets EOWNERDEAD, repairs, and everything goes on. Unrepaired it is lost.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>

static pthread_mutex_t repaired, lost;
static int half_done;

static void *die(void *arg) {
    assert(pthread_mutex_lock(arg) == 0);
    half_done = 1;
    return 0;
}

static void *use(void *unused) {
    (void)unused;
    int result = pthread_mutex_lock(&repaired);
    if (result == EOWNERDEAD) {
        assert(half_done);
        half_done = 0;
        assert(pthread_mutex_consistent(&repaired) == 0);
    } else {
        assert(result == 0 && !half_done);
    }
    pthread_mutex_unlock(&repaired);
    return 0;
}

int main(void) {
    pthread_mutexattr_t attr;
    pthread_t owner, a, b;
    int robust;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    assert(pthread_mutexattr_getrobust(&attr, &robust) == 0 && robust == PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&repaired, &attr);
    pthread_mutex_init(&lost, &attr);

    pthread_create(&owner, 0, die, &repaired);
    pthread_join(owner, 0);
    pthread_create(&a, 0, use, 0);
    pthread_create(&b, 0, use, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(pthread_mutex_lock(&repaired) == 0 && !half_done);
    pthread_mutex_unlock(&repaired);

    pthread_create(&owner, 0, die, &lost);
    pthread_join(owner, 0);
    assert(pthread_mutex_trylock(&lost) == EOWNERDEAD);
    pthread_mutex_unlock(&lost);
    assert(pthread_mutex_lock(&lost) == ENOTRECOVERABLE);
    assert(pthread_mutex_consistent(&lost) == EINVAL);
    return 0;
}
