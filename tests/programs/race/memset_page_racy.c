//@ expect: race
//@ race: fill last
// A memset over many pages, and the last byte of them.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static char *x;
volatile size_t length = 300000;

static void *work(void *arg) {
    memset(x, 1, length); //~ fill
    return arg;
}

int main(void) {
    x = malloc(length + 1);
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    x[length - 1] = 2; //~ last
    pthread_join(strand, 0);
    free(x);
    return 0;
}
