// Two numbers are set one after the other; whoever looks in between finds one of them set.
#include "strands.h"

_Atomic int a, b, torn;

static void *set(void *unused) {
    a = 1;
    b = -1;
    return unused;
}

static void *check(void *unused) {
    int of_a = a;
    int of_b = b;
    if (of_a + of_b != 0)
        torn++;
    return unused;
}

int main(void) {
    RUN(set, set, check);
}
