//@ expect: race
//@ race: handler main
// A handler runs in one strand and writes what another reads.
#include <pthread.h>
#include <signal.h>

volatile sig_atomic_t x;
int seen;

static void handler(int number) {
    (void)number;
    x = 1; //~ handler
}

static void *work(void *arg) {
    raise(SIGUSR1);
    return arg;
}

int main(void) {
    signal(SIGUSR1, handler);
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    seen = x; //~ main
    pthread_join(strand, 0);
    return 0;
}
