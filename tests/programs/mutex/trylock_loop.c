//@ expect: pass
// Two locks in opposite orders with trylock and back-off: no deadlock, and it ends.
#include <assert.h>
#include <pthread.h>
#include <sched.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void take_both(pthread_mutex_t *first, pthread_mutex_t *second) {
    for (;;) {
        pthread_mutex_lock(first);
        if (pthread_mutex_trylock(second) == 0)
            return;
        pthread_mutex_unlock(first);
        sched_yield();
    }
}

static void *work(void *arg) {
    take_both(arg ? &a : &b, arg ? &b : &a);
    count++;
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return 0;
}

int main(void) {
    pthread_t x, y;
    pthread_create(&x, 0, work, 0);
    pthread_create(&y, 0, work, &a);
    pthread_join(x, 0);
    pthread_join(y, 0);
    assert(count == 2);
    return 0;
}
