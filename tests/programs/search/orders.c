//@ expect: exit
// Two strands make three exchanges each with one variable; the order they came in, one of 20, is the exit code. What they found
// there comes back through the strands' results, so nothing else is shared. `tests/rates.rs` counts the orders.
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#define ROUNDS 3
static atomic_int place;

static void *work(void *arg) {
    int me = (int)(intptr_t)arg;
    intptr_t found = 0;
    for (int round = 0; round < ROUNDS; round++)
        found |= (intptr_t)atomic_exchange(&place, 1 + me * ROUNDS + round) << (4 * round);
    return (void *)found;
}

int main(void) {
    pthread_t strands[2];
    void *found[2];
    for (intptr_t i = 0; i < 2; i++)
        pthread_create(&strands[i], 0, work, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(strands[i], &found[i]);
    /* Who came after whom, from the first to the last: a bit each, set where it was strand 1. */
    unsigned order = 0;
    for (int last = 0, made = 0; made < 2 * ROUNDS; made++) {
        for (int value = 1; value <= 2 * ROUNDS; value++) {
            int strand = (value - 1) / ROUNDS, round = (value - 1) % ROUNDS;
            if (((intptr_t)found[strand] >> (4 * round) & 15) == last) {
                order |= (unsigned)strand << made;
                last = value;
                break;
            }
        }
    }
    /* Its place among the numbers with three bits set, from 1. */
    int place_of = 1;
    for (unsigned other = 0; other < order; other++)
        place_of += __builtin_popcount(other) == ROUNDS;
    return place_of;
}
