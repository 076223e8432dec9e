// An allocation may fail: it is done without.
//@ expect: pass
//@ runs: 300
//@ faults: memory
#include <pthread.h>
#include <stdlib.h>

static void *work(void *unused) {
    volatile int *block = realloc(NULL, 4000);
    if (block == NULL)
        return unused;
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
