//@ expect: pass
// The strand that a barrier singles out destroys and frees it, while the others are still on their way out of it.
#include <pthread.h>
#include <stdlib.h>

static void *meet(void *argument) {
    pthread_barrier_t *barrier = argument;
    if (pthread_barrier_wait(barrier) == PTHREAD_BARRIER_SERIAL_THREAD) {
        pthread_barrier_destroy(barrier);
        free(barrier);
    }
    return 0;
}

int main(void) {
    pthread_t one, two;
    pthread_barrier_t *barrier = malloc(sizeof *barrier);
    pthread_barrier_init(barrier, 0, 3);
    pthread_create(&one, 0, meet, barrier);
    pthread_create(&two, 0, meet, barrier);
    meet(barrier);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
