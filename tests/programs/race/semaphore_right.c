//@ expect: pass
// A semaphore hands data over.
#include <pthread.h>
#include <semaphore.h>

sem_t ready;
int data, seen;

static void *work(void *arg) {
    data = 1;
    sem_post(&ready);
    return arg;
}

int main(void) {
    sem_init(&ready, 0, 0);
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    sem_wait(&ready);
    seen = data;
    pthread_join(strand, 0);
    return 0;
}
