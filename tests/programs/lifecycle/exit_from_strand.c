//@ expect: pass
// exit(0) by a strand ends the program although main and others wait for ever; the exit handlers run.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>

static sem_t never;
static int handlers;

static void second(void) { assert(++handlers == 2); }
static void first(void) { assert(++handlers == 1); }

static void *wait_for_ever(void *unused) {
    (void)unused;
    sem_wait(&never);
    return 0;
}

static void *leave(void *unused) {
    (void)unused;
    exit(0);
}

int main(void) {
    pthread_t a, b;
    atexit(second);
    atexit(first);
    sem_init(&never, 0, 0);
    pthread_create(&a, 0, wait_for_ever, 0);
    pthread_create(&b, 0, leave, 0);
    pthread_join(a, 0);
    _exit(9);
}
