// The same in a helper, with counters and a second lock that is given back.
//@ expect: deadlock
//@ pair: full look
//@ pair: lock lock
//@ pattern: order-violation
//@ object: pool.full|pool.lock
#include <pthread.h>
#include <stdatomic.h>

static struct {
    pthread_mutex_t lock;
    _Atomic int full;
    int items;
} pool = {PTHREAD_MUTEX_INITIALIZER, 0, 0};
static pthread_mutex_t stats = PTHREAD_MUTEX_INITIALIZER;
static int tries;
static atomic_int errors;

static void count(void) {
    pthread_mutex_lock(&stats);
    tries++;
    pthread_mutex_unlock(&stats);
}

static int put(void) {
    count();
    pthread_mutex_lock(&pool.lock); //~ lock
    if (pool.full) { //~ look
        atomic_fetch_add(&errors, 1);
        return 0;
    }
    pool.items++;
    pthread_mutex_unlock(&pool.lock);
    count();
    return 1;
}

static void *producer(void *arg) {
    put(); //~ puts
    return arg;
}

int main(void) {
    pthread_t x, y;
    pthread_create(&x, 0, producer, 0);
    pthread_create(&y, 0, producer, 0);
    count();
    pool.full = 1; //~ full
    pthread_join(x, 0);
    pthread_join(y, 0);
    return 0;
}
