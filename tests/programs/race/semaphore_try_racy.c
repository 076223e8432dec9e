//@ expect: race
//@ race: fill use
// A sem_trywait that failed received nothing.
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>

sem_t ready, looked;
int data, seen;

static void *work(void *arg) {
    data = 1; //~ fill
    sem_wait(&looked);
    sem_post(&ready);
    return arg;
}

int main(void) {
    sem_init(&ready, 0, 0);
    sem_init(&looked, 0, 0);
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    sem_trywait(&ready);
    seen = data; //~ use
    sem_post(&looked);
    pthread_join(strand, 0);
    return 0;
}
