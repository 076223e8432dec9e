//@ expect: assertion
// The same on the stack of a strand, which lends it to another one.
#include <assert.h>
#include <pthread.h>

static void *counts(void *argument) {
    volatile long *pair = argument;
    long found = pair[1];
    pair[1] = found + 1;
    return 0;
}

static void *lends(void *unused) {
    volatile long pair[2] = {0, 0};
    pthread_t other;
    pthread_create(&other, 0, counts, (void *)pair);
    pair[0] = 7;
    long found = pair[1];
    pair[1] = found + 1;
    pthread_join(other, 0);
    assert(pair[0] == 7 && pair[1] == 2); //~ here
    return unused;
}

int main(void) {
    pthread_t lender;
    pthread_create(&lender, 0, lends, 0);
    pthread_join(lender, 0);
    return 0;
}
