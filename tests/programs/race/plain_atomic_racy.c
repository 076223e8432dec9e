//@ expect: race
//@ race: plain add
// A plain store and an atomic addition to the same variable.
#include <pthread.h>

int x;

static void *work(void *arg) {
    __atomic_fetch_add(&x, 1, __ATOMIC_RELAXED); //~ add
    return arg;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    x = 5; //~ plain
    pthread_join(strand, 0);
    return 0;
}
