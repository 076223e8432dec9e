//@ expect: assertion
// What is shared lies on the stack of main, which nobody watches before another strand comes to it.
#include <assert.h>
#include <pthread.h>

static void *counts(void *argument) {
    volatile int *shared = argument;
    int found = *shared;
    *shared = found + 1;
    return 0;
}

int main(void) {
    volatile int shared = 0;
    pthread_t other;
    pthread_create(&other, 0, counts, (void *)&shared);
    int found = shared;
    shared = found + 1;
    pthread_join(other, 0);
    assert(shared == 2); //~ here
    return 0;
}
