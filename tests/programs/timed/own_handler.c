//@ expect: timeout
//@ timeout: 1s
//@ max-runs: 1
//@ replays: 0
//@ bare: hang
// The run is told to end by a signal that the program handles itself: the handler is not run.
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
static volatile sig_atomic_t stop;
static volatile unsigned long work;
static void handler(int sig) { (void)sig; stop = 1; }
static void *busy(void *p) { for (;;) work++; return p; }
int main(void) {
    struct sigaction sa = {.sa_handler = handler};
    sigaction(SIGXCPU, &sa, 0);
    sigset_t all, old; pthread_t t;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    pthread_create(&t, 0, busy, 0);
    pthread_sigmask(SIG_SETMASK, &old, 0);
    while (!stop) usleep(1000);
    _exit(0);
}
