//@ expect: race
//@ race: store load
// An atomic store and a plain load of the same variable.
#include <pthread.h>

int x, seen;

static void *work(void *arg) {
    __atomic_store_n(&x, 1, __ATOMIC_SEQ_CST); //~ store
    return arg;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    seen = x; //~ load
    pthread_join(strand, 0);
    return 0;
}
