//@ expect: pass
// Waiters are already queued when the owner dies.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t lock;
static atomic_int dead;

static void *own_and_die(void *unused) {
    (void)unused;
    int result = pthread_mutex_lock(&lock);
    if (result == EOWNERDEAD) {
        atomic_fetch_add(&dead, 1);
        pthread_mutex_consistent(&lock);
    }
    return 0;
}

int main(void) {
    pthread_mutexattr_t attr;
    pthread_t strands[3];
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&lock, &attr);
    for (int i = 0; i < 3; i++)
        pthread_create(&strands[i], 0, own_and_die, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(strands[i], 0);
    assert(atomic_load(&dead) == 2);
    assert(pthread_mutex_lock(&lock) == EOWNERDEAD);
    return 0;
}
