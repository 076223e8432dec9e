//@ expect: assertion
//@ max-runs: 100
// A handler of exit takes down what a detached strand still uses.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int closed;

static void close_all(void) { atomic_store(&closed, 1); }

static void *works(void *unused) {
    for (int at = 0; at < 3; at++) assert(!atomic_load(&closed)); //~ here
    return unused;
}

int main(void) {
    pthread_t strand;
    atexit(close_all);
    pthread_create(&strand, 0, works, 0);
    pthread_detach(strand);
    return 0;
}
