//@ expect: pass
// Each strand has a generator of its own.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static void *draws(void *unused) {
    unsigned own = 1;
    rand_r(&own);
    return unused;
}

int main(void) {
    pthread_t strand;
    srand(1);
    int first = rand();
    srand(1);
    pthread_create(&strand, 0, draws, 0);
    assert(rand() == first);
    pthread_join(strand, 0);
    return 0;
}
