//@ expect: pass
// A strand shows main a variable of its stack and stays until it has been read.
#include <pthread.h>
#include <semaphore.h>

static sem_t ready, done;
static volatile int *shown;

static void *show(void *unused) {
    volatile int value = 42;
    (void)unused;
    shown = &value;
    sem_post(&ready);
    sem_wait(&done);
    return 0;
}

int main(void) {
    for (int i = 0; i < 3; i++) {
        pthread_t strand;
        sem_init(&ready, 0, 0);
        sem_init(&done, 0, 0);
        pthread_create(&strand, 0, show, 0);
        sem_wait(&ready);
        int value = *shown;
        sem_post(&done);
        pthread_join(strand, 0);
        if (value != 42)
            return 1;
    }
    return 0;
}
