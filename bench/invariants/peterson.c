// Peterson's mutual exclusion.
#include "strands.h"

_Atomic int flag1, flag2, turn;
int x;

static void *one(void *unused) {
    flag1 = 1;
    turn = 1;
    while (flag2 == 1 && turn == 1) {
    }
    x = 0;
    assert(x <= 0);
    flag1 = 0;
    return unused;
}

static void *two(void *unused) {
    flag2 = 1;
    turn = 0;
    while (flag1 == 1 && turn == 0) {
    }
    x = 1;
    assert(x >= 1);
    flag2 = 0;
    return unused;
}

int main(void) {
    RUN(one, two);
}
