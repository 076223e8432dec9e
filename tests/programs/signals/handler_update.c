//@ expect: assertion
//@ max-runs: 2000
// A handler changes what the interrupted strand is changing.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

static atomic_int events, sent;

static void on_signal(int number) {
    (void)number;
    atomic_fetch_add(&events, 1);
}

static void *count(void *unused) {
    (void)unused;
    for (int i = 0; i < 4; i++)
        atomic_store(&events, atomic_load(&events) + 1);
    while (!atomic_load(&sent))
        sched_yield();
    return 0;
}

int main(void) {
    pthread_t strand;
    signal(SIGUSR2, on_signal);
    pthread_create(&strand, 0, count, 0);
    pthread_kill(strand, SIGUSR2);
    atomic_store(&sent, 1);
    pthread_join(strand, 0);
    assert(atomic_load(&events) == 5); //~ here
    return 0;
}
