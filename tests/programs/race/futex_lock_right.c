//@ expect: pass
// A lock on a futex.
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#define GIVE memory_order_release

atomic_int held;
int total;

static void lock(void) {
    int state = 0;
    if (atomic_compare_exchange_strong_explicit(&held, &state, 1, memory_order_acquire, memory_order_relaxed))
        return;
    while (atomic_exchange_explicit(&held, 2, memory_order_acquire) != 0)
        syscall(SYS_futex, &held, FUTEX_WAIT_PRIVATE, 2, 0, 0, 0);
}

static void unlock(void) {
    if (atomic_exchange_explicit(&held, 0, GIVE) == 2)
        syscall(SYS_futex, &held, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}

static void *work(void *arg) {
    for (int i = 0; i < 2; i++) {
        lock();
        total++;
        unlock();
    }
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
