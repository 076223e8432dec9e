//@ expect: race
//@ race: main strand
// The main strand ends by pthread_exit; what it wrote before is not ordered with its children.
#include <pthread.h>
#include <stdlib.h>

int x, seen;
pthread_t first;

static void *work(void *arg) {
    seen = x; //~ strand
    exit(0);
    return arg;
}

int main(void) {
    first = pthread_self();
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    x = 1; //~ main
    pthread_exit(0);
}
