// Two locks in opposite orders.
//@ expect: deadlock
//@ pair: a_then b_wants
//@ pair: b_then a_wants
//@ pair: a_then a_wants
//@ pair: b_then b_wants
//@ pattern: lock-order-cycle
//@ object: a|b
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;

static void *one(void *arg) {
    pthread_mutex_lock(&a); //~ a_then
    pthread_mutex_lock(&b); //~ b_wants
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    return arg;
}

static void *two(void *arg) {
    pthread_mutex_lock(&b); //~ b_then
    pthread_mutex_lock(&a); //~ a_wants
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return arg;
}

int main(void) {
    pthread_t x, y;
    pthread_create(&x, 0, one, 0);
    pthread_create(&y, 0, two, 0);
    pthread_join(x, 0);
    pthread_join(y, 0);
    return 0;
}
