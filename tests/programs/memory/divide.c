//@ expect: crash
//@ message: SIGFPE
//@ preemptions: 2
//@ pair: zero here
//@ pair: five here
// The divisor is zero for a moment.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int divisor = 4;

static void *change(void *unused) {
    (void)unused;
    atomic_store(&divisor, 0); //~ zero
    atomic_store(&divisor, 5); //~ five
    return 0;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, change, 0);
    volatile int result = 100 / atomic_load(&divisor); //~ here
    pthread_join(strand, 0);
    return result > 100;
}
