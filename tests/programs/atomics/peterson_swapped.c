//@ expect: assertion
//@ max-runs: 1000
//@ preemptions: 2
//@ pair: look want
// Peterson's lock with its first two lines swapped: wrong on any machine.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int wants[2], turn, inside;

static void *work(void *arg) {
    int me = (int)(long)arg, other = 1 - me;
    atomic_store(&turn, other); //~ turn
    atomic_store(&wants[me], 1); //~ want
    while (atomic_load(&wants[other]) && atomic_load(&turn) == other) { //~ look
    }
    assert(atomic_fetch_add(&inside, 1) == 0); //~ here
    atomic_fetch_sub(&inside, 1);
    atomic_store(&wants[me], 0);
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, (void *)0);
    pthread_create(&b, 0, work, (void *)1);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
