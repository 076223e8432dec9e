//@ expect: pass
// A plain store before the others start, then atomic additions only.
#include <pthread.h>

int x;

static void *work(void *arg) {
    __atomic_fetch_add(&x, 1, __ATOMIC_RELAXED);
    return arg;
}

int main(void) {
    pthread_t strand;
    x = 5;
    pthread_create(&strand, 0, work, 0);
    __atomic_fetch_add(&x, 1, __ATOMIC_RELAXED);
    pthread_join(strand, 0);
    return 0;
}
