// Takes a try that fails for a lock that is held.
//@ expect: assertion
//@ max-runs: 200
//@ bare: any
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
    int got = mtx_trylock(&lock);
    assert(got == thrd_success && count == 1);
    mtx_unlock(&lock);
    return 0;
}
