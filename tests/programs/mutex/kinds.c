//@ expect: pass
// What each kind of mutex answers to relocking, foreign unlocking, trying, destroying.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>

static pthread_mutex_t normal = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t checked = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static int depth;

static void *stranger(void *unused) {
    (void)unused;
    assert(pthread_mutex_trylock(&normal) == EBUSY);
    assert(pthread_mutex_trylock(&recursive) == EBUSY && pthread_mutex_unlock(&recursive) == EPERM);
    assert(pthread_mutex_trylock(&checked) == EBUSY && pthread_mutex_unlock(&checked) == EPERM);
    return 0;
}

static void *enter(void *unused) {
    (void)unused;
    pthread_mutex_lock(&recursive);
    pthread_mutex_lock(&recursive);
    assert(++depth == 1);
    depth--;
    pthread_mutex_unlock(&recursive);
    assert(++depth == 1);
    depth--;
    pthread_mutex_unlock(&recursive);
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_mutexattr_t attr;
    pthread_mutex_t made;
    int type;
    assert(pthread_mutexattr_init(&attr) == 0 && pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ADAPTIVE_NP) == 0);
    assert(pthread_mutexattr_gettype(&attr, &type) == 0 && type == PTHREAD_MUTEX_ADAPTIVE_NP);
    assert(pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT) == 0);
    assert(pthread_mutex_init(&made, &attr) == 0 && pthread_mutex_lock(&made) == 0);
    assert(pthread_mutex_unlock(&made) == 0 && pthread_mutex_destroy(&made) == 0);
    assert(pthread_mutexattr_settype(&attr, 99) == EINVAL && pthread_mutexattr_destroy(&attr) == 0);

    pthread_mutex_lock(&normal);
    assert(pthread_mutex_lock(&recursive) == 0 && pthread_mutex_trylock(&recursive) == 0);
    assert(pthread_mutex_lock(&checked) == 0 && pthread_mutex_lock(&checked) == EDEADLK);
    pthread_create(&a, 0, stranger, 0);
    pthread_join(a, 0);
    assert(pthread_mutex_destroy(&checked) == EBUSY);
    pthread_mutex_unlock(&normal);
    pthread_mutex_unlock(&recursive);
    pthread_mutex_unlock(&recursive);
    pthread_mutex_unlock(&checked);
    assert(pthread_mutex_unlock(&checked) == EPERM && pthread_mutex_unlock(&recursive) == EPERM);

    pthread_create(&a, 0, enter, 0);
    pthread_create(&b, 0, enter, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
