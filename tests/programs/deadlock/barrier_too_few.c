//@ expect: deadlock
//@ message: 2 of 3 have come
// One of three finds nothing to do and does not come to the barrier.
#include <pthread.h>
#include <stdatomic.h>

static pthread_barrier_t phase;
static atomic_int jobs = 2;

static void *work(void *unused) {
    (void)unused;
    if (atomic_fetch_sub(&jobs, 1) <= 0)
        return 0;
    pthread_barrier_wait(&phase); //~ here
    return 0;
}

static void *supply(void *unused) {
    (void)unused;
    atomic_fetch_add(&jobs, 1);
    return 0;
}

int main(void) {
    pthread_t strands[3], supplier;
    pthread_barrier_init(&phase, 0, 3);
    pthread_create(&supplier, 0, supply, 0);
    for (int i = 0; i < 3; i++)
        pthread_create(&strands[i], 0, work, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(strands[i], 0);
    pthread_join(supplier, 0);
    return 0;
}
