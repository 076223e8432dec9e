//@ expect: pass
// A handler and the strand it runs in share a variable.
#include <pthread.h>
#include <signal.h>

volatile sig_atomic_t x;
int seen;

static void handler(int number) {
    (void)number;
    x = 1;
}

static void *work(void *arg) {
    raise(SIGUSR1);
    seen = x;
    return arg;
}

int main(void) {
    signal(SIGUSR1, handler);
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    pthread_join(strand, 0);
    return 0;
}
