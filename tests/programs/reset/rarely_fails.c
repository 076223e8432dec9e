//@ expect: assertion|crash|exit
//@ max-runs: 400
// Some orders fail, each in its own way, and some write: what a run wrote is told of that run alone.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_int turns;
static int order[4];

static void *strand(void *arg) {
    order[atomic_fetch_add(&turns, 1)] = (int)(long)arg;
    return 0;
}

int main(void) {
    pthread_t strands[4];
    assert(turns == 0);
    for (long i = 0; i < 4; i++)
        pthread_create(&strands[i], 0, strand, (void *)i);
    for (int i = 0; i < 4; i++)
        pthread_join(strands[i], 0);
    int name = order[0] * 100 + order[1] * 10 + order[2];
    if (order[3] == 2)
        printf("order %d\n", name);
    assert(name != 312);
    if (name == 301)
        abort();
    if (name == 310) {
        fprintf(stderr, "this order fails\n");
        return 3;
    }
    if (name == 132)
        return 4;
    return 0;
}
