//@ expect: exit
//@ message: 7
//@ preemptions: 1
//@ pair: check set
// Two strands decide the exit code; only one order is good.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int initialised;

static void *check(void *unused) {
    (void)unused;
    if (!atomic_load(&initialised)) //~ check
        exit(7);
    return 0;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, check, 0);
    atomic_store(&initialised, 1); //~ set
    pthread_join(strand, 0);
    return 0;
}
