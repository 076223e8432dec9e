//@ expect: pass
// A compare-exchange that fails with acquire order.
#include <pthread.h>
#include <stdatomic.h>

#define FAILED memory_order_acquire

int *_Atomic published;
volatile int seen;

int values[2];

static void *work(void *own) {
    int *found = 0;
    *(int *)own = 1;
    if (!atomic_compare_exchange_strong_explicit(&published, &found, own, memory_order_acq_rel, FAILED))
        seen = *found;
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, &values[0]);
    pthread_create(&b, 0, work, &values[1]);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
