//@ expect: pass
//@ runs: 4
//@ timeout: 20s
// The last strand that is left looks for a value that nobody will store, and counts its looks on the heap: it gives up.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int stage;

static void *work(void *unused) {
    (void)unused;
    atomic_store(&stage, 1);
    return NULL;
}

int main(void) {
    long *looks = calloc(1, sizeof *looks);
    pthread_t strand;
    pthread_create(&strand, NULL, work, NULL);
    pthread_join(strand, NULL);
    while (atomic_load(&stage) != 2 && ++*looks < 300000) {
    }
    free(looks);
    return 0;
}
