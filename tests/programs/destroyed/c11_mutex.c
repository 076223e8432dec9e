//@ expect: use-after-destroy
//@ message: of a mutex that strand 0 has destroyed
//@ max-runs: 100
//@ bare: any
// Nobody has waited for the worker.
#include <threads.h>

static mtx_t lock;
static int count;

static int work(void *unused) {
    mtx_lock(&lock); //~ here
    count++;
    mtx_unlock(&lock);
    return unused != 0;
}

int main(void) {
    thrd_t strand;
    mtx_init(&lock, mtx_plain);
    thrd_create(&strand, work, 0);
    mtx_lock(&lock);
    count++;
    mtx_unlock(&lock);
    mtx_destroy(&lock);
    thrd_join(strand, 0);
    return 0;
}
