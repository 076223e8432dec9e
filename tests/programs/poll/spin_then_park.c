//@ expect: deadlock
//@ bare: any
// A lock that looks a hundred times before it sleeps. Its slow path forgets to say that somebody sleeps.
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FREE, TAKEN, TAKEN_AND_WANTED };

static atomic_int word;
static int counter;

static void lock(void) {
    int expected = FREE;
    if (atomic_compare_exchange_strong(&word, &expected, TAKEN)) return;
    for (;;) {
        for (int i = 0; i < 100; i++) {
            expected = FREE;
            if (atomic_load(&word) == FREE && atomic_compare_exchange_strong(&word, &expected, TAKEN)) return;
        }
        // It should be TAKEN_AND_WANTED from here on.
        syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, TAKEN, 0, 0, 0);
    }
}

static void unlock(void) {
    if (atomic_exchange(&word, FREE) == TAKEN_AND_WANTED) syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}

static void *work(void *unused) {
    (void)unused;
    lock();
    counter++;
    unlock();
    return 0;
}

int main(void) {
    pthread_t strands[2];
    for (int i = 0; i < 2; i++) pthread_create(&strands[i], 0, work, 0);
    for (int i = 0; i < 2; i++) pthread_join(strands[i], 0);
    return counter != 2;
}
