//@ expect: race
//@ race: strand main
// Two strands write one variable with nothing between them.
#include <pthread.h>

int x;

static void *work(void *arg) {
    x = 1; //~ strand
    return arg;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    x = 2; //~ main
    pthread_join(strand, 0);
    return 0;
}
