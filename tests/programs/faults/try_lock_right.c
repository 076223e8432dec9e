// `mtx_trylock` may fail though the lock is free: it is tried again.
//@ expect: pass
//@ runs: 300
#include <assert.h>
#include <threads.h>

static mtx_t lock;
static int count;

static int add(void *unused) {
    (void)unused;
    mtx_lock(&lock);
    count++;
    mtx_unlock(&lock);
    return 0;
}

int main(void) {
    thrd_t adder;
    mtx_init(&lock, mtx_plain);
    thrd_create(&adder, add, NULL);
    thrd_join(adder, NULL);
    // Nobody else is left.
    int got;
    while ((got = mtx_trylock(&lock)) == thrd_busy)
        thrd_yield();
    assert(got == thrd_success && count == 1);
    mtx_unlock(&lock);
    return 0;
}
