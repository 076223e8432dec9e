//@ expect: race
//@ race: fill use
// A try to join that failed joined nothing.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>

sem_t looked;
int data, seen;

static void *work(void *arg) {
    data = 1; //~ fill
    sem_wait(&looked);
    return arg;
}

int main(void) {
    sem_init(&looked, 0, 0);
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    pthread_tryjoin_np(strand, 0);
    seen = data; //~ use
    sem_post(&looked);
    pthread_join(strand, 0);
    return 0;
}
