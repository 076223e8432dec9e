//@ expect: pass
// The strand has been joined when exit handlers run.
#include <pthread.h>
#include <stdlib.h>

int x;

static void handler(void) {
    x = 2;
}

static void *work(void *arg) {
    x = 1;
    return arg;
}

int main(void) {
    atexit(handler);
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    pthread_join(strand, 0);
    return 0;
}
