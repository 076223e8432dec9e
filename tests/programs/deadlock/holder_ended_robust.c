//@ expect: pass
// The same with a robust mutex: the next holder is told, and makes it good.
#include <assert.h>
#include <errno.h>
#include <pthread.h>

static pthread_mutex_t lock;

static void *forget(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    return 0;
}

int main(void) {
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&lock, &attr);
    pthread_t strand;
    pthread_create(&strand, 0, forget, 0);
    int got = pthread_mutex_lock(&lock);
    if (got == EOWNERDEAD)
        pthread_mutex_consistent(&lock);
    pthread_mutex_unlock(&lock);
    pthread_join(strand, 0);
    assert(got == 0 || got == EOWNERDEAD);
    return 0;
}
