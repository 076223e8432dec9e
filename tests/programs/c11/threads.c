//@ expect: pass
// threads.h: thrd, mtx of each type, cnd, tss, call_once.
#include <assert.h>
#include <stdlib.h>
#include <threads.h>

static mtx_t lock, nested, timed;
static cnd_t changed;
static tss_t slot;
static once_flag once = ONCE_FLAG_INIT;
static int ready, calls, freed;

static void init(void) { calls++; }

static void drop(void *value) {
    free(value);
    mtx_lock(&lock);
    freed++;
    mtx_unlock(&lock);
}

static int work(void *arg) {
    call_once(&once, init);
    assert(calls == 1);
    assert(tss_get(slot) == 0 && tss_set(slot, malloc(1)) == thrd_success);
    mtx_lock(&lock);
    while (!ready)
        cnd_wait(&changed, &lock);
    mtx_unlock(&lock);
    assert(mtx_lock(&nested) == thrd_success && mtx_trylock(&nested) == thrd_success);
    mtx_unlock(&nested);
    mtx_unlock(&nested);
    if (arg)
        thrd_exit(3);
    return 2;
}

int main(void) {
    thrd_t a, b;
    int x, y;
    assert(mtx_init(&lock, mtx_plain) == thrd_success && mtx_init(&nested, mtx_plain | mtx_recursive) == thrd_success);
    assert(mtx_init(&timed, mtx_timed) == thrd_success && cnd_init(&changed) == thrd_success);
    assert(tss_create(&slot, drop) == thrd_success);
    assert(thrd_create(&a, work, 0) == thrd_success && thrd_create(&b, work, &lock) == thrd_success);
    thrd_yield();
    mtx_lock(&lock);
    // It may fail though nobody has the lock.
    while (mtx_trylock(&timed) != thrd_success)
        ;
    assert(mtx_trylock(&timed) == thrd_busy);
    ready = 1;
    cnd_broadcast(&changed);
    mtx_unlock(&lock);
    assert(thrd_join(a, &x) == thrd_success && thrd_join(b, &y) == thrd_success);
    assert(x == 2 && y == 3 && calls == 1 && freed == 2);
    assert(thrd_equal(thrd_current(), thrd_current()));
    tss_delete(slot);
    cnd_destroy(&changed);
    mtx_destroy(&lock);
    return 0;
}
