//@ expect: pass
// A flag with release and acquire orders what it guards.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

atomic_int ready;
int data, seen;

static void *work(void *arg) {
    data = 1;
    ready = 1;
    return arg;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    while (!ready)
        sched_yield();
    seen = data;
    pthread_join(strand, 0);
    return 0;
}
