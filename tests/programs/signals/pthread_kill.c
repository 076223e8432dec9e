//@ expect: pass
// A signal to one strand: the handler runs there and nowhere else, and interrupts its wait.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>

static _Thread_local volatile sig_atomic_t hits;
static sem_t ready;
static atomic_int answered;

static void on_signal(int number) {
    assert(number == SIGUSR1);
    hits++;
    sem_post(&ready);
}

static void *target(void *unused) {
    (void)unused;
    while (!hits)
        if (sem_wait(&ready) == -1)
            assert(errno == EINTR);
    atomic_store(&answered, 1);
    return 0;
}

int main(void) {
    pthread_t strand;
    struct sigaction action = {.sa_handler = on_signal};
    sigemptyset(&action.sa_mask);
    assert(sigaction(SIGUSR1, &action, 0) == 0);
    sem_init(&ready, 0, 0);
    pthread_create(&strand, 0, target, 0);
    assert(pthread_kill(strand, 0) == 0);
    assert(pthread_kill(strand, SIGUSR1) == 0);
    pthread_join(strand, 0);
    assert(hits == 0 && atomic_load(&answered) == 1);
    raise(SIGUSR1);
    assert(hits == 1);
    return 0;
}
