// A signal without a condition.
//@ expect: deadlock
//@ pair: signal wait
//@ pattern: lost-wake-up
//@ object: ready
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;

static void *waiter(void *arg) {
    pthread_mutex_lock(&lock); //~ waiter_locks
    pthread_cond_wait(&ready, &lock); //~ wait
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, waiter, 0);
    pthread_mutex_lock(&lock); //~ signaller_locks
    pthread_cond_signal(&ready); //~ signal
    pthread_mutex_unlock(&lock);
    pthread_join(t, 0);
    return 0;
}
