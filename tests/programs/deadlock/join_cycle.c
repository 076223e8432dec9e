//@ expect: deadlock
//@ message: join cycle of 3 strands
//@ bare: hang
// Three strands join each other in a circle.
#include <pthread.h>
#include <semaphore.h>

static pthread_t strands[3];
static sem_t made;

static void *follow(void *arg) {
    long own = (long)arg;
    sem_wait(&made);
    pthread_join(strands[(own + 1) % 3], 0); //~ here
    return 0;
}

int main(void) {
    sem_init(&made, 0, 0);
    for (long i = 0; i < 3; i++)
        pthread_create(&strands[i], 0, follow, (void *)i);
    for (int i = 0; i < 3; i++)
        sem_post(&made);
    pthread_exit(0);
}
