// `sem_wait` may be interrupted.
//@ expect: pass
//@ runs: 300
//@ faults: io
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

static sem_t done;
static atomic_int data;

static void *make(void *unused) {
    atomic_store(&data, 42);
    sem_post(&done);
    return unused;
}

int main(void) {
    pthread_t maker;
    sem_init(&done, 0, 0);
    pthread_create(&maker, NULL, make, NULL);
    while (sem_wait(&done) != 0 && errno == EINTR)
        ;
    assert(atomic_load(&data) == 42);
    pthread_join(maker, NULL);
    return 0;
}
