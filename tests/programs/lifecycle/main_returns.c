//@ expect: pass
// main returns while one strand waits and another still runs: both just end.
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

static sem_t never;
static atomic_int counter;

static void *wait_for_ever(void *unused) {
    (void)unused;
    sem_wait(&never);
    return 0;
}

static void *count(void *unused) {
    (void)unused;
    for (int i = 0; i < 50; i++)
        atomic_fetch_add(&counter, 1);
    return 0;
}

int main(void) {
    pthread_t a, b;
    sem_init(&never, 0, 0);
    pthread_create(&a, 0, wait_for_ever, 0);
    pthread_create(&b, 0, count, 0);
    return 0;
}
