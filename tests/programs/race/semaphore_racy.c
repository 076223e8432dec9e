//@ expect: race
//@ race: fill use
// The post comes before the data.
#include <pthread.h>
#include <semaphore.h>

sem_t ready;
int data, seen;

static void *work(void *arg) {
    sem_post(&ready);
    data = 1; //~ fill
    return arg;
}

int main(void) {
    sem_init(&ready, 0, 0);
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    sem_wait(&ready);
    seen = data; //~ use
    pthread_join(strand, 0);
    return 0;
}
