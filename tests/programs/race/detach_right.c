//@ expect: pass
// A detached strand and a semaphore.
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

sem_t done;
int data, seen;

static void *work(void *arg) {
    data = 1;
    sem_post(&done);
    return arg;
}

int main(void) {
    sem_init(&done, 0, 0);
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    pthread_detach(strand);
    sem_wait(&done);
    seen = data;
    return 0;
}
