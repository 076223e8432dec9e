//@ expect: pass
// Peterson's lock with sequentially consistent accesses.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

#define ORDER memory_order_seq_cst

atomic_int wants[2], turn;
int total;

static void *work(void *arg) {
    intptr_t me = (intptr_t)arg, other = 1 - me;
    atomic_store_explicit(&wants[me], 1, ORDER);
    atomic_store_explicit(&turn, (int)other, ORDER);
    while (atomic_load_explicit(&wants[other], ORDER) && atomic_load_explicit(&turn, ORDER) == other)
        sched_yield();
    total++;
    atomic_store_explicit(&wants[me], 0, ORDER);
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, (void *)0);
    pthread_create(&b, 0, work, (void *)1);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
