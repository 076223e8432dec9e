//@ expect: race
//@ race: fill use
// One barrier for each round, but the next round's write comes in the phase of this round's read.
#include <pthread.h>

pthread_barrier_t barrier;
int data;
__thread volatile int seen;

static void *look(void *arg) {
    for (int round = 0; round < 2; round++) {
        pthread_barrier_wait(&barrier);
        seen = data; //~ use
    }
    return arg;
}

int main(void) {
    pthread_barrier_init(&barrier, 0, 2);
    pthread_t strand;
    pthread_create(&strand, 0, look, 0);
    for (int round = 0; round < 2; round++) {
        data = round; //~ fill
        pthread_barrier_wait(&barrier);
    }
    pthread_join(strand, 0);
    return 0;
}
