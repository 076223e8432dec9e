//@ expect: crash|assertion|stack-overflow
//@ max-runs: 200
// Fails in some orders, in three ways; runs before and after are what they would be alone.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int turns;
static int order[3];

static int deeper(volatile int *at) {
    volatile int here[4096] = {*at};
    return deeper((volatile int *)here) + here[1];
}

static void *strand(void *arg) {
    order[atomic_fetch_add(&turns, 1)] = (int)(long)arg;
    return 0;
}

int main(void) {
    pthread_t strands[3];
    assert(turns == 0 && order[0] == 0);
    for (long i = 0; i < 3; i++)
        pthread_create(&strands[i], 0, strand, (void *)(i + 1));
    for (int i = 0; i < 3; i++)
        pthread_join(strands[i], 0);
    assert(order[0] != 2 || order[1] != 1);
    if (order[0] == 3 && order[1] == 2)
        abort();
    if (order[0] == 3 && order[1] == 1)
        return deeper(&order[0]);
    return 0;
}
