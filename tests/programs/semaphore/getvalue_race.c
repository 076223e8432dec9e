//@ expect: deadlock
//@ preemptions: 1
//@ pair: look here
// sem_getvalue says there is a permit; another strand takes it first.
#include <pthread.h>
#include <semaphore.h>

static sem_t permits;

static void *take(void *unused) {
    (void)unused;
    int value = 0;
    sem_getvalue(&permits, &value); //~ look
    if (value > 0)
        sem_wait(&permits); //~ here
    return 0;
}

int main(void) {
    pthread_t a, b;
    sem_init(&permits, 0, 1);
    pthread_create(&a, 0, take, 0);
    pthread_create(&b, 0, take, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
