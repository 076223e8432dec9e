//@ expect: use-after-destroy
//@ max-runs: 100
//@ bare: any
// A late worker comes to a barrier of a round that was given up.
#include <pthread.h>
#include <stdatomic.h>

static pthread_barrier_t gate;
static atomic_int given_up;

static void *work(void *unused) {
    if (!atomic_load(&given_up))
        pthread_barrier_wait(&gate); //~ here
    return unused;
}

int main(void) {
    pthread_t strand;
    pthread_barrier_init(&gate, 0, 1);
    pthread_create(&strand, 0, work, 0);
    atomic_store(&given_up, 1);
    pthread_barrier_destroy(&gate);
    pthread_join(strand, 0);
    return 0;
}
