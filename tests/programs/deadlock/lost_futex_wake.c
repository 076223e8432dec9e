//@ expect: deadlock
//@ message: lost wake-up: strand 0.1 woke `event`
//@ preemptions: 1
//@ pair: wake here
// The word is not changed before the wake, so a wait that begins later sleeps for ever.
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

static int event;

static void *wake(void *unused) {
    (void)unused;
    syscall(SYS_futex, &event, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0); //~ wake
    return 0;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, wake, 0);
    syscall(SYS_futex, &event, FUTEX_WAIT_PRIVATE, 0, 0, 0, 0); //~ here
    pthread_join(strand, 0);
    return 0;
}
