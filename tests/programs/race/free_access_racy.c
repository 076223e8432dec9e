//@ expect: race|use-after-free
//@ race: free look
// A block is freed by one strand while another reads it.
#include <pthread.h>
#include <stdlib.h>

int *block;
volatile int seen;

static void *work(void *arg) {
    seen = *block; //~ look
    return arg;
}

int main(void) {
    block = calloc(1, 100);
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    free(block); //~ free
    pthread_join(strand, 0);
    return 0;
}
