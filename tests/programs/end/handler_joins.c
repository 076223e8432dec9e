//@ expect: pass
// A handler of exit waits for the strand before it takes anything down.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int closed;
static pthread_t strand;

static void close_all(void) {
    pthread_join(strand, 0);
    atomic_store(&closed, 1);
}

static void *works(void *unused) {
    for (int at = 0; at < 3; at++) assert(!atomic_load(&closed));
    return unused;
}

int main(void) {
    atexit(close_all);
    pthread_create(&strand, 0, works, 0);
    return 0;
}
