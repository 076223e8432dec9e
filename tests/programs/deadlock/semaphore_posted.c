//@ expect: pass
// Closed or not, the one who waits is told.
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

static sem_t items;
static atomic_int closed;

static void *produce(void *unused) {
    (void)unused;
    sem_post(&items);
    return 0;
}

int main(void) {
    sem_init(&items, 0, 0);
    pthread_t strand;
    pthread_create(&strand, 0, produce, 0);
    atomic_store(&closed, 1);
    sem_wait(&items);
    pthread_join(strand, 0);
    return 0;
}
