//@ expect: pass
// What the call returns: stale value, timeout, nobody to wake, bit sets, requeue.
#include <assert.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static atomic_int gate, other, woken;

static long futex(atomic_int *word, int op, int value, const struct timespec *timeout, void *word2, int value3) {
    return syscall(SYS_futex, word, op | FUTEX_PRIVATE_FLAG, value, timeout, word2, value3);
}

static void *wait_gate(void *arg) {
    while (atomic_load(&gate) == 0)
        futex(&gate, FUTEX_WAIT_BITSET, 0, 0, 0, (int)(long)arg);
    atomic_fetch_add(&woken, 1);
    return 0;
}

int main(void) {
    struct timespec ms = {0, 1000000}, past = {0, 0};
    assert(futex(&gate, FUTEX_WAIT, 1, 0, 0, 0) == -1 && errno == EAGAIN);
    assert(futex(&gate, FUTEX_WAIT, 0, &ms, 0, 0) == -1 && errno == ETIMEDOUT);
    assert(futex(&gate, FUTEX_WAIT_BITSET, 0, &past, 0, 1) == -1 && errno == ETIMEDOUT);
    assert(futex(&gate, FUTEX_WAKE, 1, 0, 0, 0) == 0);
    assert(futex(&gate, FUTEX_WAIT_BITSET, 0, 0, 0, 0) == -1 && errno == EINVAL);
    assert(futex(&gate, FUTEX_CMP_REQUEUE, 1, (void *)1, &other, 5) == -1 && errno == EAGAIN);

    pthread_t a, b;
    pthread_create(&a, 0, wait_gate, (void *)1);
    pthread_create(&b, 0, wait_gate, (void *)2);
    assert(futex(&gate, FUTEX_WAKE_BITSET, 9, 0, 0, 4) == 0);
    atomic_store(&gate, 1);
    /* Nobody waits with bit 2 but b; whoever moves to the other word is woken there. */
    long direct = futex(&gate, FUTEX_WAKE_BITSET, 9, 0, 0, 2);
    assert(direct == 0 || direct == 1);
    long moved = futex(&gate, FUTEX_CMP_REQUEUE, 1, (void *)1, &other, 1);
    assert(moved >= 0 && moved <= 2 - direct);
    assert(futex(&other, FUTEX_WAKE, 9, 0, 0, 0) <= 1);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(atomic_load(&woken) == 2);
    return 0;
}
