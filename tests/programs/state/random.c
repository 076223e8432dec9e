//@ expect: assertion
//@ max-runs: 100
// Two strands draw from one generator: which number each gets is up to the scheduler.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static void *draws(void *unused) {
    rand();
    return unused;
}

int main(void) {
    pthread_t strand;
    srand(1);
    int first = rand();
    srand(1);
    pthread_create(&strand, 0, draws, 0);
    assert(rand() == first); //~ here
    pthread_join(strand, 0);
    return 0;
}
