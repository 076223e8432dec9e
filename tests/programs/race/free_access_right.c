//@ expect: pass
// A block is freed behind the join of its reader.
#include <pthread.h>
#include <stdlib.h>

int *block;
volatile int seen;

static void *work(void *arg) {
    seen = *block;
    return arg;
}

int main(void) {
    block = calloc(1, 100);
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    pthread_join(strand, 0);
    free(block);
    return 0;
}
