// The monotonic clock is never set.
//@ expect: pass
//@ runs: 300
//@ faults: clock
#include <assert.h>
#include <time.h>

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

int main(void) {
    long long before = now();
    long long after = now();
    assert(before <= after);
    return 0;
}
