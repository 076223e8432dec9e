//@ expect: race|use-after-free
//@ race: grow look
// A block is grown by one strand while another reads it.
#include <pthread.h>
#include <stdlib.h>

int *block, *grown;
volatile int seen;

static void *work(void *arg) {
    seen = *block; //~ look
    return arg;
}

int main(void) {
    block = calloc(1, 100);
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    grown = realloc(block, 100000); //~ grow
    pthread_join(strand, 0);
    free(grown);
    return 0;
}
