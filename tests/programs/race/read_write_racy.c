//@ expect: race
//@ race: strand main
// One strand reads what another writes.
#include <pthread.h>

int x, seen, copy;

static void *work(void *arg) {
    x = 1; //~ strand
    return arg;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    copy = x; //~ main
    pthread_join(strand, 0);
    return 0;
}
