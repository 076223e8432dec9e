// Counting up and down by compare and exchange.
#include "strands.h"

_Atomic int value;
_Atomic int ups, downs;

static void *up(void *unused) {
    int mine = value;
    while (!atomic_compare_exchange_strong(&value, &mine, mine + 1)) {
    }
    ups++;
    return unused;
}

static void *down(void *unused) {
    int mine = value;
    while (mine > 0) {
        if (atomic_compare_exchange_strong(&value, &mine, mine - 1)) {
            downs++;
            break;
        }
    }
    return unused;
}

int main(void) {
    RUN(up, down, up);
    assert(value == ups - downs);
}
