// The flag is set and told of without the lock, between the look at it and the wait.
//@ expect: deadlock
//@ pair: signal wait
//@ pattern: lost-wake-up
//@ object: event.changed
#include <pthread.h>
#include <stdatomic.h>

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    atomic_int set;
} event = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};

static void *waiter(void *arg) {
    pthread_mutex_lock(&event.lock);
    while (!atomic_load(&event.set)) //~ look
        pthread_cond_wait(&event.changed, &event.lock); //~ wait
    pthread_mutex_unlock(&event.lock);
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, waiter, 0);
    atomic_store(&event.set, 1); //~ set
    pthread_cond_signal(&event.changed); //~ signal
    pthread_join(t, 0);
    return 0;
}
