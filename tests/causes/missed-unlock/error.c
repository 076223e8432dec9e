// Where the connection is closed, the lock is not given back.
//@ expect: deadlock
//@ pair: close look
//@ pair: lock lock
//@ pair: lock main_lock
//@ pattern: order-violation
//@ object: closed|lock
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int closed;
static int sent;

static void *sender(void *arg) {
    pthread_mutex_lock(&lock); //~ lock
    if (atomic_load(&closed)) return arg; //~ look
    sent++;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t x;
    pthread_create(&x, 0, sender, 0);
    atomic_store(&closed, 1); //~ close
    pthread_mutex_lock(&lock); //~ main_lock
    int now = sent;
    pthread_mutex_unlock(&lock);
    pthread_join(x, 0);
    return now > 1;
}
