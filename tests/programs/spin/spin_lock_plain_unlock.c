//@ expect: assertion
//@ preemptions: 2
// The unlock writes the flag that another strand has just taken: released twice, entered by two.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int taken, inside;

static void *work(void *arg) {
    while (atomic_exchange(&taken, 1)) {
    }
    assert(atomic_fetch_add(&inside, 1) == 0); //~ here
    atomic_fetch_sub(&inside, 1);
    atomic_store(&taken, 0);
    /* A clean-up that was meant for the error path only. */
    if (arg)
        atomic_store(&taken, 0);
    return 0;
}

int main(void) {
    pthread_t strands[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&strands[i], 0, work, i == 0 ? &taken : 0);
    for (int i = 0; i < 3; i++)
        pthread_join(strands[i], 0);
    return 0;
}
