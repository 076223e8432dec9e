//@ expect: pass
// A ticket lock.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define WAIT memory_order_acquire

atomic_uint next, serving;
int total;

static void *work(void *arg) {
    unsigned mine = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);
    while (atomic_load_explicit(&serving, WAIT) != mine)
        sched_yield();
    total++;
    atomic_store_explicit(&serving, mine + 1, memory_order_release);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
