//@ expect: assertion
// Each strand has instructions of its own. The one that reads first is seen by nobody before the other reads, too, and only
// then writes: all three have to be learnt.
#include <assert.h>
#include <pthread.h>

static volatile int shared;
static int seen;

static void *looks(void *unused) {
    (void)unused;
    seen = shared;
    shared = seen + 1;
    return 0;
}

static void *counts(void *unused) {
    (void)unused;
    int found = shared;
    shared = found + 1;
    return 0;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, 0, looks, 0);
    pthread_create(&second, 0, counts, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    assert(shared == 2); //~ here
    return 0;
}
