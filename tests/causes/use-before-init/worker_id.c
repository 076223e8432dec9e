// The number of a worker is kept after it was started; it looks at it at once.
//@ expect: assertion
//@ pair: keep look
//@ pattern: use-before-init
//@ object: workers[0].number
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static struct {
    pthread_t thread;
    int number;
} workers[2];
static atomic_int started;

static void *worker(void *arg) {
    atomic_fetch_add(&started, 1);
    int number = workers[0].number; //~ look
    assert(number != 0); //~ end
    return arg;
}

int main(void) {
    pthread_create(&workers[0].thread, 0, worker, 0);
    workers[0].number = 17; //~ keep
    pthread_join(workers[0].thread, 0);
    return atomic_load(&started) - 1;
}
