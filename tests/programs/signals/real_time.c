//@ expect: crash
//@ message: SIGRTMIN+3
//@ max-runs: 20
//@ bare: any
// Real-time signals have names, too.
#include <pthread.h>
#include <signal.h>

static int count;

static void *work(void *unused) {
    count++;
    if (count == 1)
        raise(SIGRTMIN + 3); //~ here
    return unused;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    pthread_join(strand, 0);
    return 0;
}
