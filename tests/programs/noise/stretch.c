//@ expect: assertion
//@ message: parts[0] > 1 || parts[1] == 1
//@ bare: any
// Three strands that make many steps. What is wrong needs one of them to make all of its own in one go, and another to be
// interrupted: with noise at every step neither would ever get far.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define STEPS 120

static atomic_int last = -1;
static int parts[3];

static inline void step(int self) {
    if (atomic_exchange(&last, self) != self)
        parts[self]++;
}

static void *work(void *number) {
    for (int i = 0; i < STEPS; i++)
        step((int)(long)number);
    return 0;
}

int main(void) {
    pthread_t strands[3];
    for (long i = 0; i < 3; i++)
        pthread_create(&strands[i], 0, work, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(strands[i], 0);
    assert(parts[0] > 1 || parts[1] == 1); //~ here
    return 0;
}
