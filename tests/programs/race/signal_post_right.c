//@ expect: pass
// A handler posts a semaphore: what its strand did before the signal is handed over.
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>

sem_t ready;
int data, seen;

static void handler(int number) {
    (void)number;
    sem_post(&ready);
}

static void *work(void *arg) {
    data = 1;
    raise(SIGUSR1);
    return arg;
}

int main(void) {
    sem_init(&ready, 0, 0);
    signal(SIGUSR1, handler);
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    sem_wait(&ready);
    seen = data;
    pthread_join(strand, 0);
    return 0;
}
