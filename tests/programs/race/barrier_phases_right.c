//@ expect: pass
// Two barriers for each round: one behind the writes, one behind the reads.
#include <pthread.h>

pthread_barrier_t barrier;
int data;
__thread volatile int seen;

static void *look(void *arg) {
    for (int round = 0; round < 2; round++) {
        pthread_barrier_wait(&barrier);
        seen = data;
        pthread_barrier_wait(&barrier);
    }
    return arg;
}

int main(void) {
    pthread_barrier_init(&barrier, 0, 2);
    pthread_t strand;
    pthread_create(&strand, 0, look, 0);
    for (int round = 0; round < 2; round++) {
        data = round;
        pthread_barrier_wait(&barrier);
        pthread_barrier_wait(&barrier);
    }
    pthread_join(strand, 0);
    return 0;
}
