//@ expect: pass
// A robust mutex whose owner ended holding it hands its state to the next owner.
#include <errno.h>
#include <pthread.h>
#include <sched.h>

pthread_mutex_t mutex;
int x, seen;

static void *work(void *arg) {
    pthread_mutex_lock(&mutex);
    x = 1;
    return arg;
}

int main(void) {
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutex, &kind);
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    if (pthread_mutex_lock(&mutex) == EOWNERDEAD)
        pthread_mutex_consistent(&mutex);
    seen = x;
    pthread_mutex_unlock(&mutex);
    pthread_join(strand, 0);
    return 0;
}
