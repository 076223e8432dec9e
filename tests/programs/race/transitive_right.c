//@ expect: pass
// Release and acquire through a strand in the middle.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

atomic_int first, second;
int data, seen;

static void *fill(void *arg) {
    data = 1;
    atomic_store_explicit(&first, 1, memory_order_release);
    return arg;
}

static void *pass(void *arg) {
    while (!atomic_load_explicit(&first, memory_order_acquire))
        sched_yield();
    atomic_store_explicit(&second, 1, memory_order_release);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, fill, 0);
    pthread_create(&b, 0, pass, 0);
    while (!atomic_load_explicit(&second, memory_order_acquire))
        sched_yield();
    seen = data;
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
