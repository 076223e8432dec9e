// Takes the end of `nanosleep` for the time it asked for.
//@ expect: assertion
//@ max-runs: 200
//@ faults: io
//@ bare: any
#include <assert.h>
#include <errno.h>
#include <time.h>

int main(void) {
    struct timespec left = {1, 0}, before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    nanosleep(&left, &left);
    clock_gettime(CLOCK_MONOTONIC, &after);
    assert(after.tv_sec * 1000000000L + after.tv_nsec - before.tv_sec * 1000000000L - before.tv_nsec >= 1000000000L);
    return 0;
}
