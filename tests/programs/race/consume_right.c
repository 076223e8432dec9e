//@ expect: pass
// A pointer loaded with consume order, which every compiler takes for acquire.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

int data, seen;
int *_Atomic published;

static void *work(void *arg) {
    data = 1;
    atomic_store_explicit(&published, &data, memory_order_release);
    return arg;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    int *found;
    while (!(found = atomic_load_explicit(&published, memory_order_consume)))
        sched_yield();
    seen = *found;
    pthread_join(strand, 0);
    return 0;
}
