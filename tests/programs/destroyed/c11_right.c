//@ expect: pass
// The signal is given under the lock, and objects are made anew where others lay.
#include <threads.h>

static mtx_t lock;
static cnd_t changed;
static int ready;

static int work(void *unused) {
    mtx_lock(&lock);
    ready = 1;
    cnd_signal(&changed);
    mtx_unlock(&lock);
    return unused != 0;
}

int main(void) {
    for (int i = 0; i < 2; i++) {
        thrd_t strand;
        ready = 0;
        mtx_init(&lock, mtx_plain);
        cnd_init(&changed);
        thrd_create(&strand, work, 0);
        mtx_lock(&lock);
        while (!ready)
            cnd_wait(&changed, &lock);
        mtx_unlock(&lock);
        thrd_join(strand, 0);
        cnd_destroy(&changed);
        mtx_destroy(&lock);
    }
    return 0;
}
