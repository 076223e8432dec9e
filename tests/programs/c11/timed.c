//@ expect: pass
// mtx_timedlock, cnd_timedwait and thrd_sleep.
#include <assert.h>
#include <threads.h>
#include <time.h>

static mtx_t lock;
static cnd_t changed;
static int done;

static struct timespec soon(void) {
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    t.tv_nsec += 2000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

static int work(void *unused) {
    (void)unused;
    struct timespec t = soon();
    int result = mtx_timedlock(&lock, &t);
    assert(result == thrd_success || result == thrd_timedout);
    if (result == thrd_success)
        mtx_unlock(&lock);
    struct timespec ms = {0, 1000000};
    assert(thrd_sleep(&ms, 0) == 0);
    mtx_lock(&lock);
    done = 1;
    cnd_signal(&changed);
    mtx_unlock(&lock);
    return 0;
}

int main(void) {
    thrd_t strand;
    mtx_init(&lock, mtx_timed);
    cnd_init(&changed);
    thrd_create(&strand, work, 0);
    mtx_lock(&lock);
    while (!done) {
        struct timespec t = soon();
        int result = cnd_timedwait(&changed, &lock, &t);
        assert(result == thrd_success || result == thrd_timedout);
    }
    mtx_unlock(&lock);
    thrd_join(strand, 0);
    return 0;
}
