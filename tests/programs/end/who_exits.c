//@ expect: exit
//@ max-runs: 100
//@ bare: any
// Two strands ask for the end of the process: who comes first decides about its code.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int ready;

static void *gives_up(void *unused) {
    (void)unused;
    atomic_store(&ready, 1);
    exit(3);
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, gives_up, 0);
    return 0;
}
