// Szymanski's mutual exclusion of two strands: the first has the lower number.
#include "strands.h"

_Atomic int flag1, flag2;
int x;

static void *one(void *unused) {
    flag1 = 1;
    while (flag2 >= 3) {
    }
    flag1 = 3;
    if (flag2 == 1) {
        flag1 = 2;
        while (flag2 != 4) {
        }
    }
    flag1 = 4;
    x = 0;
    assert(x <= 0);
    for (int other = flag2; other == 2 || other == 3; other = flag2) {
    }
    flag1 = 0;
    return unused;
}

static void *two(void *unused) {
    flag2 = 1;
    while (flag1 >= 3) {
    }
    flag2 = 3;
    if (flag1 == 1) {
        flag2 = 2;
        while (flag1 != 4) {
        }
    }
    flag2 = 4;
    while (flag1 >= 2) {
    }
    x = 1;
    assert(x >= 1);
    flag2 = 0;
    return unused;
}

int main(void) {
    RUN(one, two);
}
