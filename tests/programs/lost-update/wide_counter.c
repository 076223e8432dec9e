//@ expect: assertion
//@ flags: -O2
//@ max-runs: 500
//@ preemptions: 1
//@ pair: add add
// Three strands, a 64-bit counter kept in a struct on the heap, several rounds each.
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

struct stats {
    uint64_t hits;
    uint64_t misses;
};

static void *count(void *arg) {
    struct stats *stats = arg;
    for (int i = 0; i < 3; i++)
        stats->hits += 1; //~ add
    return 0;
}

int main(void) {
    struct stats *stats = calloc(1, sizeof *stats);
    pthread_t strands[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&strands[i], 0, count, stats);
    for (int i = 0; i < 3; i++)
        pthread_join(strands[i], 0);
    assert(stats->hits == 9); //~ here
    free(stats);
    return 0;
}
