//@ expect: pass
// Two strands look at the environment, and nobody changes it.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static void *looks(void *unused) {
    assert(getenv("THREADS") == 0);
    return unused;
}

int main(void) {
    pthread_t strand;
    unsetenv("THREADS");
    pthread_create(&strand, 0, looks, 0);
    assert(getenv("THREADS") == 0);
    pthread_join(strand, 0);
    return 0;
}
