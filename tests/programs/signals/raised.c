//@ expect: crash
//@ message: SIGTERM
//@ max-runs: 20
//@ bare: any
// A fatal signal that a strand sends itself is told at the call.
#include <pthread.h>
#include <signal.h>

static int count;

static void *work(void *unused) {
    count++;
    if (count == 1)
        raise(SIGTERM); //~ here
    return unused;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    pthread_join(strand, 0);
    return 0;
}
