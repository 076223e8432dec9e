//@ expect: assertion
//@ max-runs: 100
// The deadline of a join may come before the strand's end.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <time.h>

static void *ends(void *unused) { return unused; }

int main(void) {
    pthread_t strand;
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    time.tv_sec++;
    pthread_create(&strand, 0, ends, 0);
    assert(pthread_timedjoin_np(strand, 0, &time) == 0); //~ here
    return 0;
}
