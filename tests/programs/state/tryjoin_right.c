//@ expect: pass
// Whoever finds the strand at work waits for it.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>

static void *ends(void *unused) { return unused; }

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, ends, 0);
    if (pthread_tryjoin_np(strand, 0) != 0) assert(pthread_join(strand, 0) == 0);
    return 0;
}
