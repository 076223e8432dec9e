//@ expect: race
//@ race: strand handler
// A strand still runs while exit handlers do.
#include <pthread.h>
#include <stdlib.h>

int x;

static void handler(void) {
    x = 2; //~ handler
}

static void *work(void *arg) {
    x = 1; //~ strand
    return arg;
}

int main(void) {
    atexit(handler);
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    pthread_detach(strand);
    return 0;
}
