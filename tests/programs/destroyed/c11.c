//@ expect: use-after-destroy
//@ message: condition variable that strand 0 has destroyed
//@ max-runs: 200
//@ bare: any
// The signal comes after the unlock: by then the waiter may have seen the flag, gone on and destroyed the variable.
#include <threads.h>

static mtx_t lock;
static cnd_t changed;
static int ready;

static int work(void *unused) {
    mtx_lock(&lock);
    ready = 1;
    mtx_unlock(&lock);
    cnd_signal(&changed); //~ here
    return unused != 0;
}

int main(void) {
    thrd_t strand;
    mtx_init(&lock, mtx_plain);
    cnd_init(&changed);
    thrd_create(&strand, work, 0);
    mtx_lock(&lock);
    while (!ready)
        cnd_wait(&changed, &lock);
    mtx_unlock(&lock);
    cnd_destroy(&changed);
    thrd_join(strand, 0);
    mtx_destroy(&lock);
    return 0;
}
