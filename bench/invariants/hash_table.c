// A table without locks: a key takes a free place by compare and exchange.
#include "strands.h"

enum { PLACES = 8 };
_Atomic unsigned keys[PLACES];
_Atomic int values[PLACES];
_Atomic int count;

static void put(unsigned key, int value) {
    for (unsigned at = key * 5 % PLACES;; at = (at + 1) % PLACES) {
        unsigned found = 0;
        if (atomic_compare_exchange_strong(&keys[at], &found, key)) {
            values[at] = value;
            count++;
            return;
        }
        if (found == key) {
            values[at] = value;
            return;
        }
    }
}

static int get(unsigned key) {
    for (unsigned at = key * 5 % PLACES; keys[at] != 0; at = (at + 1) % PLACES)
        if (keys[at] == key)
            return values[at];
    return 0;
}

static void *first(void *unused) {
    put(1, 10);
    put(9, 90);
    return unused;
}

static void *second(void *unused) {
    put(1, 11);
    put(2, 20);
    return unused;
}

int main(void) {
    RUN(first, second);
    assert(count == 3 && get(9) == 90 && get(2) == 20 && get(1) >= 10);
}
