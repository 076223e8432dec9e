//@ expect: pass
// A spin lock on an atomic_flag.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define GIVE memory_order_release

atomic_flag held = ATOMIC_FLAG_INIT;
int total;

static void *work(void *arg) {
    while (atomic_flag_test_and_set_explicit(&held, memory_order_acquire))
        sched_yield();
    total++;
    atomic_flag_clear_explicit(&held, GIVE);
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
