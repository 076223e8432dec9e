//@ expect: pass
//@ runs: 20
//@ classes: 1
// Strands that share 8 bytes of memory and no byte, and blocks of the heap whose addresses depend on who came first.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static struct {
    atomic_int of[2];
} pair;

static void *work(void *which) {
    long at = (long)which;
    for (int i = 0; i < 3; i++) {
        int *block = malloc(16 + 8 * i);
        *block = atomic_load(&pair.of[at]) + 1;
        atomic_store(&pair.of[at], *block);
        free(block);
    }
    return 0;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, work, (void *)0);
    pthread_create(&two, 0, work, (void *)1);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return pair.of[0] != 3 || pair.of[1] != 3;
}
