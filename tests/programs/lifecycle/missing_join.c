//@ expect: assertion
//@ preemptions: 0
//@ pair: set here
// The result is read before the strand is joined.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int result;

static void *compute(void *unused) {
    (void)unused;
    atomic_store(&result, 42); //~ set
    return 0;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, compute, 0);
    assert(atomic_load(&result) == 42); //~ here
    pthread_join(strand, 0);
    return 0;
}
