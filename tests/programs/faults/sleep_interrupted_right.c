// `nanosleep` may be interrupted, and says what is left.
//@ expect: pass
//@ runs: 300
//@ faults: io
#include <assert.h>
#include <errno.h>
#include <time.h>

int main(void) {
    struct timespec left = {1, 0}, before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
    clock_gettime(CLOCK_MONOTONIC, &after);
    assert(after.tv_sec * 1000000000L + after.tv_nsec - before.tv_sec * 1000000000L - before.tv_nsec >= 1000000000L);
    return 0;
}
