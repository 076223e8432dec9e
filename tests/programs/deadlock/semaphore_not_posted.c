//@ expect: deadlock
//@ message: no strand is left that could post it
//@ preemptions: 0
//@ pair: close check
// The one who should post leaves early when it finds the queue closed.
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

static sem_t items;
static atomic_int closed;

static void *produce(void *unused) {
    (void)unused;
    if (!atomic_load(&closed)) //~ check
        sem_post(&items);
    return 0;
}

int main(void) {
    sem_init(&items, 0, 0);
    pthread_t strand;
    pthread_create(&strand, 0, produce, 0);
    atomic_store(&closed, 1); //~ close
    sem_wait(&items); //~ here
    pthread_join(strand, 0);
    return 0;
}
