// Measures by the wall clock, which somebody may set.
//@ expect: assertion
//@ max-runs: 200
//@ faults: clock
//@ bare: any
#include <assert.h>
#include <time.h>

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

int main(void) {
    long long before = now();
    long long after = now();
    assert(before <= after);
    return 0;
}
