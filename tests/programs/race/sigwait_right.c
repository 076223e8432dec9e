//@ expect: pass
// A signal that a strand waits for hands data over.
#include <pthread.h>
#include <signal.h>

int data, seen;

static void *work(void *arg) {
    sigset_t *set = arg;
    int number;
    sigwait(set, &number);
    seen = data;
    return 0;
}

int main(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, 0);
    pthread_t strand;
    pthread_create(&strand, 0, work, &set);
    data = 1;
    pthread_kill(strand, SIGUSR1);
    pthread_join(strand, 0);
    return 0;
}
