//@ expect: pass
//@ runs: 20
// An alarm interrupts a pause; a timer ticks while strands work.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>
#include <unistd.h>

static atomic_int rang, ticks;

static void on_alarm(int number) {
    (void)number;
    atomic_fetch_add(&rang, 1);
}

static void *work(void *unused) {
    (void)unused;
    for (int i = 0; i < 20; i++)
        atomic_fetch_add(&ticks, 1);
    return 0;
}

int main(void) {
    pthread_t strand;
    sigset_t set, old;
    struct sigaction action = {.sa_handler = on_alarm};
    sigaction(SIGALRM, &action, 0);
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &set, &old);
    pthread_create(&strand, 0, work, 0);
    alarm(1);
    while (atomic_load(&rang) == 0)
        assert(sigsuspend(&old) == -1 && errno == EINTR);
    struct itimerval soon = {{0, 0}, {0, 2000}};
    setitimer(ITIMER_REAL, &soon, 0);
    while (atomic_load(&rang) == 1)
        sigsuspend(&old);
    pthread_join(strand, 0);
    assert(atomic_load(&rang) == 2 && atomic_load(&ticks) == 20 && alarm(0) == 0);
    return 0;
}
