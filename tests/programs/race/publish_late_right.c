//@ expect: pass
// Who sees only the earlier value leaves the data alone.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

atomic_int ready;
int data, seen;

static void *work(void *arg) {
    atomic_store_explicit(&ready, 1, memory_order_release);
    data = 1;
    atomic_store_explicit(&ready, 2, memory_order_release);
    return arg;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    if (atomic_load_explicit(&ready, memory_order_acquire) == 2)
        seen = data;
    pthread_join(strand, 0);
    return 0;
}
