// Lamport's fast mutual exclusion of two strands.
#include "strands.h"

_Atomic int b1, b2, x, y;
int inside;

static void *one(void *unused) {
    for (;;) {
        b1 = 1;
        x = 1;
        if (y != 0) {
            b1 = 0;
            while (y != 0) {
            }
            continue;
        }
        y = 1;
        if (x != 1) {
            b1 = 0;
            while (b2 != 0) {
            }
            if (y != 1) {
                while (y != 0) {
                }
                continue;
            }
        }
        break;
    }
    inside = 0;
    assert(inside <= 0);
    y = 0;
    b1 = 0;
    return unused;
}

static void *two(void *unused) {
    for (;;) {
        b2 = 1;
        x = 2;
        if (y != 0) {
            b2 = 0;
            while (y != 0) {
            }
            continue;
        }
        y = 2;
        if (x != 2) {
            b2 = 0;
            while (b1 != 0) {
            }
            if (y != 2) {
                while (y != 0) {
                }
                continue;
            }
        }
        break;
    }
    inside = 1;
    assert(inside >= 1);
    y = 0;
    b2 = 0;
    return unused;
}

int main(void) {
    RUN(one, two);
}
