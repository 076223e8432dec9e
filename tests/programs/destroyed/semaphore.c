//@ expect: use-after-destroy
//@ max-runs: 100
//@ bare: any
// Two workers post; the owner waits for one of them only.
#include <pthread.h>
#include <semaphore.h>

static sem_t done;

static void *work(void *unused) {
    sem_post(&done); //~ here
    return unused;
}

int main(void) {
    pthread_t strands[2];
    sem_init(&done, 0, 0);
    for (int i = 0; i < 2; i++)
        pthread_create(&strands[i], 0, work, 0);
    sem_wait(&done);
    sem_destroy(&done);
    for (int i = 0; i < 2; i++)
        pthread_join(strands[i], 0);
    return 0;
}
