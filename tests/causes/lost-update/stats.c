// The sum loses an update; the counters beside it are atomic, and a flag lets the workers go.
//@ expect: assertion
//@ pair: read write
//@ pair: write write
//@ pattern: lost-update
//@ object: sum
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_int go, calls, finished;
static long sum;

static void *work(void *arg) {
    while (!atomic_load(&go)) sched_yield();
    for (int i = 0; i < 2; i++) {
        atomic_fetch_add(&calls, 1);
        long old = sum; //~ read
        atomic_fetch_add(&calls, 1);
        sum = old + (long)arg; //~ write
    }
    atomic_fetch_add(&finished, 1);
    return 0;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, work, (void *)1);
    pthread_create(&two, 0, work, (void *)10);
    atomic_store(&go, 1);
    pthread_join(one, 0);
    pthread_join(two, 0);
    assert(atomic_load(&calls) == 8 && atomic_load(&finished) == 2);
    assert(sum == 22); //~ end
    return 0;
}
