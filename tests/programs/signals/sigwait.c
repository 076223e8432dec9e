//@ expect: pass
// A strand that takes the signals of the whole process by sigwait, the others block them.
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

static sigset_t set;
static atomic_int reloads;

static void *listen_for_signals(void *unused) {
    (void)unused;
    for (;;) {
        int number;
        assert(sigwait(&set, &number) == 0);
        if (number == SIGTERM)
            return 0;
        assert(number == SIGHUP);
        atomic_fetch_add(&reloads, 1);
    }
}

static void *ask(void *unused) {
    sigset_t mask;
    (void)unused;
    assert(pthread_sigmask(SIG_BLOCK, 0, &mask) == 0 && sigismember(&mask, SIGHUP) && sigismember(&mask, SIGTERM));
    assert(kill(getpid(), SIGHUP) == 0);
    return 0;
}

int main(void) {
    pthread_t listener, asker;
    sigemptyset(&set);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGTERM);
    assert(pthread_sigmask(SIG_BLOCK, &set, 0) == 0);
    pthread_create(&listener, 0, listen_for_signals, 0);
    pthread_create(&asker, 0, ask, 0);
    pthread_join(asker, 0);
    while (atomic_load(&reloads) == 0)
        usleep(1000);
    assert(pthread_kill(listener, SIGTERM) == 0);
    pthread_join(listener, 0);
    assert(atomic_load(&reloads) == 1);
    return 0;
}
