//@ expect: assertion
//@ message: parameters[self]
//@ bare: any
// A strand looks for its parameter, which its creator puts into a table after it was started.
#include <assert.h>
#include <pthread.h>

#define STRANDS 6

static volatile int parameters[STRANDS];

static void *work(void *number) {
    long self = (long)number;
    assert(parameters[self] != 0); //~ here
    return 0;
}

int main(void) {
    pthread_t strands[STRANDS];
    for (long i = 0; i < STRANDS; i++) {
        pthread_create(&strands[i], 0, work, (void *)i);
        parameters[i] = 1;
    }
    for (int i = 0; i < STRANDS; i++)
        pthread_join(strands[i], 0);
    return 0;
}
