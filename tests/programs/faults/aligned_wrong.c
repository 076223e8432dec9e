// Does not look whether it has its memory.
//@ expect: crash
//@ max-runs: 200
//@ faults: memory
//@ bare: any
#include <pthread.h>
#include <stdlib.h>

static void *work(void *unused) {
    volatile int *block = aligned_alloc(64, 4096);
    for (int at = 0; at < 1000; at++)
        block[at] = at;
    free((void *)block);
    return unused;
}

int main(void) {
    pthread_t worker;
    if (pthread_create(&worker, NULL, work, NULL) != 0)
        return 0;
    work(NULL);
    pthread_join(worker, NULL);
    return 0;
}
