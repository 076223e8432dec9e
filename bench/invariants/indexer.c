// Strands put messages into a table by their hash and go on where a place is taken. How many: STRANDS.
#include "strands.h"

enum { SIZE = 128, MOST = 4 };
_Atomic int table[SIZE];

static void *insert(void *argument) {
    int strand = (int)(size_t)argument;
    for (int i = 1; i <= MOST; i++) {
        int message = i * 11 + strand;
        int at = message * 7 % SIZE;
        int found = 0;
        while (!atomic_compare_exchange_strong(&table[at], &found, message)) {
            at = (at + 1) % SIZE;
            found = 0;
        }
    }
    return NULL;
}

int main(void) {
    body bodies[STRANDS];
    for (int i = 0; i < STRANDS; i++)
        bodies[i] = insert;
    run_all(bodies, STRANDS);
}
