// Dekker's mutual exclusion.
#include "strands.h"

_Atomic int flag1, flag2, turn;
int x;

static void *one(void *unused) {
    flag1 = 1;
    while (flag2 == 1) {
        if (turn != 0) {
            flag1 = 0;
            while (turn != 0) {
            }
            flag1 = 1;
        }
    }
    x = 0;
    assert(x <= 0);
    turn = 1;
    flag1 = 0;
    return unused;
}

static void *two(void *unused) {
    flag2 = 1;
    while (flag1 == 1) {
        if (turn != 1) {
            flag2 = 0;
            while (turn != 1) {
            }
            flag2 = 1;
        }
    }
    x = 1;
    assert(x >= 1);
    turn = 0;
    flag2 = 0;
    return unused;
}

int main(void) {
    RUN(one, two);
}
