//@ expect: assertion
// One strand uses atomics, the other does not: its plain accesses have to be learnt from the atomic one.
#include <assert.h>
#include <pthread.h>

static volatile int shared;

static void *counts(void *unused) {
    int found = shared;
    shared = found + 1;
    return unused;
}

static void *adds(void *unused) {
    __atomic_fetch_add(&shared, 1, __ATOMIC_SEQ_CST);
    return unused;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, 0, counts, 0);
    pthread_create(&second, 0, adds, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    assert(shared == 2); //~ here
    return 0;
}
