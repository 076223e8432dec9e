//@ expect: assertion
//@ max-runs: 100
// A strand changes the environment that another one looks at.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static void *sets(void *unused) {
    setenv("THREADS", "4", 1);
    return unused;
}

int main(void) {
    pthread_t strand;
    unsetenv("THREADS");
    pthread_create(&strand, 0, sets, 0);
    assert(getenv("THREADS") == 0); //~ here
    pthread_join(strand, 0);
    return 0;
}
