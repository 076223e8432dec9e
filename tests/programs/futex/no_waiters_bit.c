//@ expect: deadlock
//@ max-runs: 1000
// The same lock without the third state: a waiter takes the lock as "held, nobody waits" and wakes nobody.
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int word;

static void lock(void) {
    int seen = 0;
    while (!atomic_compare_exchange_strong(&word, &seen, 1)) {
        if (seen == 2 || atomic_compare_exchange_strong(&word, &seen, 2))
            syscall(SYS_futex, &word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 2, 0, 0, 0); //~ here
        seen = 0;
    }
}

static void unlock(void) {
    if (atomic_exchange(&word, 0) == 2)
        syscall(SYS_futex, &word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, 0, 0, 0);
}

static void *enter(void *unused) {
    (void)unused;
    lock();
    unlock();
    return 0;
}

int main(void) {
    pthread_t strands[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&strands[i], 0, enter, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(strands[i], 0);
    return 0;
}
