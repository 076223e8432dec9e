//@ expect: race
//@ race: bump bump
// A semaphore of two lets both strands in.
#include <pthread.h>
#include <semaphore.h>

sem_t places;
int total;

static void *work(void *arg) {
    sem_wait(&places);
    total++; //~ bump
    return arg;
}

int main(void) {
    sem_init(&places, 0, 2);
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
