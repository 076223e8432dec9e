//@ expect: pass
// A strand joins the main strand, which ended by pthread_exit.
#include <pthread.h>
#include <stdlib.h>

int x, seen;
pthread_t first;

static void *work(void *arg) {
    pthread_join(first, 0);
    seen = x;
    exit(0);
    return arg;
}

int main(void) {
    first = pthread_self();
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    x = 1;
    pthread_exit(0);
}
