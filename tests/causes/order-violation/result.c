// The result is read before the worker has come to it.
//@ expect: assertion
//@ pair: read write
//@ pattern: order-violation|use-before-init
//@ object: result
#include <assert.h>
#include <pthread.h>

static int result = -1;

static void *compute(void *arg) {
    result = 42; //~ write
    return arg;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, compute, 0);
    int seen = result; //~ read
    assert(seen == 42); //~ end
    pthread_join(t, 0);
    return 0;
}
