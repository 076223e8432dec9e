//@ expect: pass
// A try to join that succeeded is a join.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>

sem_t looked;
int data, seen;

static void *work(void *arg) {
    data = 1;
    return arg;
}

int main(void) {
    sem_init(&looked, 0, 0);
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    while (pthread_tryjoin_np(strand, 0) != 0)
        sched_yield();
    seen = data;
    return 0;
}
