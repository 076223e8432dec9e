//@ expect: pass
// An atomic store and an atomic load, both relaxed, of the same variable.
#include <pthread.h>

int x, seen;

static void *work(void *arg) {
    __atomic_store_n(&x, 1, __ATOMIC_SEQ_CST);
    return arg;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    seen = __atomic_load_n(&x, __ATOMIC_RELAXED);
    pthread_join(strand, 0);
    return 0;
}
