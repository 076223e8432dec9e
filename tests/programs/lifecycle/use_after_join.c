//@ expect: assertion
//@ preemptions: 0
//@ pair: close here
// Main closes the pool after joining the worker; a helper that the worker detached still uses it.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

struct pool {
    atomic_int open;
};

static struct pool pool = {1};

static void *help(void *unused) {
    (void)unused;
    assert(atomic_load(&pool.open)); //~ here
    return 0;
}

static void *work(void *unused) {
    pthread_t helper;
    (void)unused;
    pthread_create(&helper, 0, help, 0);
    pthread_detach(helper);
    return 0;
}

int main(void) {
    pthread_t worker;
    pthread_create(&worker, 0, work, 0);
    pthread_join(worker, 0);
    atomic_store(&pool.open, 0); //~ close
    pthread_exit(0);
}
