//@ expect: pass
//@ runs: 20
//@ classes: 34
// Two strands update a number twice each, in two steps; all orders of reads and writes but those of reads alone.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int number;

static void *update(void *unused) {
    for (int i = 0; i < 2; i++)
        atomic_store(&number, atomic_load(&number) + 1);
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, update, 0);
    pthread_create(&two, 0, update, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
