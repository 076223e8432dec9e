// Looks once, then takes a wake-up for the event.
//@ expect: assertion
//@ max-runs: 200
//@ bare: any
#include <assert.h>
#include <threads.h>

static mtx_t lock;
static cnd_t changed;
static int ready;

static int set(void *unused) {
    (void)unused;
    mtx_lock(&lock);
    ready = 1;
    cnd_signal(&changed);
    mtx_unlock(&lock);
    return 0;
}

int main(void) {
    thrd_t setter;
    mtx_init(&lock, mtx_plain);
    cnd_init(&changed);
    thrd_create(&setter, set, NULL);
    mtx_lock(&lock);
    if (!ready)
        cnd_wait(&changed, &lock);
    assert(ready);
    mtx_unlock(&lock);
    thrd_join(setter, NULL);
    return 0;
}
