//@ expect: assertion
//@ message: parts[0] > 1 || parts[1] == 1
//@ bare: any
// Three strands that make many steps. What is wrong needs one of them to make all of its own in one go, and another to be
// interrupted: with noise at every step none would ever get far.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define STEPS 120

static atomic_int steps;

static void *work(void *unused) {
    (void)unused;
    long parts = 0;
    int next = -1;
    for (int i = 0; i < STEPS; i++) {
        int number = atomic_fetch_add(&steps, 1);
        parts += number != next;
        next = number + 1;
    }
    return (void *)parts;
}

int main(void) {
    pthread_t strands[3];
    void *result;
    long parts[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&strands[i], 0, work, 0);
    for (int i = 0; i < 3; i++) {
        pthread_join(strands[i], &result);
        parts[i] = (long)result;
    }
    assert(parts[0] > 1 || parts[1] == 1); //~ here
    return 0;
}
