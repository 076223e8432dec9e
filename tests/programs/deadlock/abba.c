//@ expect: deadlock
//@ preemptions: 1
//@ pair: a-taken a-wanted
//@ pair: b-taken here
// Two locks, taken in opposite orders.
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;

static void *first(void *unused) {
    (void)unused;
    pthread_mutex_lock(&a); //~ a-taken
    pthread_mutex_lock(&b); //~ here
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    return 0;
}

static void *second(void *unused) {
    (void)unused;
    pthread_mutex_lock(&b); //~ b-taken
    pthread_mutex_lock(&a); //~ a-wanted
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return 0;
}

int main(void) {
    pthread_t x, y;
    pthread_create(&x, 0, first, 0);
    pthread_create(&y, 0, second, 0);
    pthread_join(x, 0);
    pthread_join(y, 0);
    return 0;
}
