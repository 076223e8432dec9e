//@ expect: pass
// A join comes behind everything the strand did.
#include <pthread.h>
#include <unistd.h>

int data, seen;

static void *work(void *arg) {
    data = 1;
    return arg;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    pthread_join(strand, 0);
    seen = data;
    return 0;
}
