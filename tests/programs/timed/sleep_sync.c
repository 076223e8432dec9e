//@ expect: assertion
//@ preemptions: 0
//@ pair: add here
// A sleep that is "surely long enough" for the other strand.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int result;

static void *compute(void *unused) {
    (void)unused;
    for (int i = 0; i < 3; i++)
        atomic_fetch_add(&result, 14); //~ add
    return 0;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, compute, 0);
    usleep(100000);
    assert(atomic_load(&result) == 42); //~ here
    pthread_join(strand, 0);
    return 0;
}
