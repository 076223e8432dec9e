//@ expect: deadlock
//@ preemptions: 1
//@ pair: a-taken a-wanted
//@ pair: b-taken here
// The classic with the mutexes of C11.
#include <threads.h>

static mtx_t a, b;

static int forth(void *unused) {
    (void)unused;
    mtx_lock(&a); //~ a-taken
    mtx_lock(&b); //~ here
    mtx_unlock(&b);
    return mtx_unlock(&a);
}

int main(void) {
    thrd_t strand;
    mtx_init(&a, mtx_plain);
    mtx_init(&b, mtx_plain);
    thrd_create(&strand, forth, 0);
    mtx_lock(&b); //~ b-taken
    mtx_lock(&a); //~ a-wanted
    mtx_unlock(&a);
    mtx_unlock(&b);
    return thrd_join(strand, 0);
}
