//@ expect: assertion
//@ max-runs: 100
// Whether the strand has ended by then is up to the scheduler.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>

static void *ends(void *unused) { return unused; }

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, ends, 0);
    assert(pthread_tryjoin_np(strand, 0) != 0); //~ here
    pthread_join(strand, 0);
    return 0;
}
