//@ expect: use-after-destroy
//@ max-runs: 100
//@ bare: any
// Both users of a pool think that they are the last one.
#include <pthread.h>
#include <stdatomic.h>
#include <threads.h>

static mtx_t lock;
static atomic_int users = 2;

static int leaves(void *unused) {
    (void)unused;
    atomic_fetch_sub(&users, 1);
    if (atomic_load(&users) == 0)
        mtx_destroy(&lock); //~ here
    return 0;
}

int main(void) {
    thrd_t strand;
    mtx_init(&lock, mtx_plain);
    thrd_create(&strand, leaves, 0);
    leaves(0);
    thrd_join(strand, 0);
    return 0;
}
