// A futex wait may end without a wake: the word is to be looked at again.
//@ expect: pass
//@ runs: 300
#include <assert.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_uint word;

static void *set(void *unused) {
    atomic_store(&word, 1);
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    return unused;
}

int main(void) {
    pthread_t setter;
    pthread_create(&setter, NULL, set, NULL);
    while (atomic_load(&word) == 0)
        syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    assert(atomic_load(&word) == 1);
    pthread_join(setter, NULL);
    return 0;
}
