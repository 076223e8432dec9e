//@ expect: stack-use-after-end
//@ message: which has ended
// A strand shows main a variable of its stack and ends.
#include <pthread.h>
#include <semaphore.h>

static sem_t ready;
static volatile int *shown;

static void *show(void *unused) {
    volatile int value = 42;
    (void)unused;
    shown = &value;
    sem_post(&ready);
    return 0;
}

int main(void) {
    pthread_t strand;
    sem_init(&ready, 0, 0);
    pthread_create(&strand, 0, show, 0);
    sem_wait(&ready);
    int value = *shown; //~ here
    pthread_join(strand, 0);
    return value == 43;
}
