// The same by compare and exchange.
#include "strands.h"

_Atomic unsigned value;

static void *take(void *unused) {
    unsigned mine = value;
    while (!atomic_compare_exchange_strong(&value, &mine, mine + 1)) {
    }
    assert(value > mine);
    return unused;
}

int main(void) {
    RUN(take, take, take);
    assert(value == 3);
}
