//@ expect: pass
// All three come to the barrier, with or without work.
#include <pthread.h>
#include <stdatomic.h>

static pthread_barrier_t phase;
static atomic_int jobs = 2;

static void *work(void *unused) {
    (void)unused;
    atomic_fetch_sub(&jobs, 1);
    pthread_barrier_wait(&phase);
    return 0;
}

int main(void) {
    pthread_t strands[3];
    pthread_barrier_init(&phase, 0, 3);
    for (int i = 0; i < 3; i++)
        pthread_create(&strands[i], 0, work, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(strands[i], 0);
    return 0;
}
