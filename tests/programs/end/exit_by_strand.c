//@ expect: assertion
//@ max-runs: 100
// A detached strand ends the process; main, as a strand, has ended before.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int done;

static void *ends(void *unused) {
    (void)unused;
    exit(0);
}

static void *writes(void *unused) {
    for (int at = 1; at <= 7; at++) atomic_store(&done, at);
    return unused;
}

static void *reads(void *unused) {
    assert(atomic_load(&done) != 7); //~ here
    return unused;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, ends, 0);
    pthread_detach(strand);
    pthread_create(&strand, 0, writes, 0);
    pthread_detach(strand);
    pthread_create(&strand, 0, reads, 0);
    pthread_detach(strand);
    pthread_exit(0);
}
