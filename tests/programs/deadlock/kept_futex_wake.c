//@ expect: pass
// The word changes before the wake: a wait that begins later does not begin.
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int event;

static void *wake(void *unused) {
    (void)unused;
    atomic_store(&event, 1);
    syscall(SYS_futex, &event, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
    return 0;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, wake, 0);
    while (!atomic_load(&event))
        syscall(SYS_futex, &event, FUTEX_WAIT_PRIVATE, 0, 0, 0, 0);
    pthread_join(strand, 0);
    return 0;
}
