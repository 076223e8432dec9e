//@ expect: crash
//@ message: SIGABRT
//@ max-runs: 20
//@ bare: any
// An abort is told where the program calls it, not where libc sends itself the signal.
#include <pthread.h>
#include <stdlib.h>

static int count;

static void *work(void *unused) {
    count++;
    if (count == 1)
        abort(); //~ here
    return unused;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    pthread_join(strand, 0);
    return 0;
}
