//@ expect: pass
// A constructor starts a thread before main, and main joins it.
#include <pthread.h>
#include <stdatomic.h>

static pthread_t early;
static atomic_int wanted, seen;

static void *work(void *unused) {
    while (!atomic_load(&wanted))
        ;
    atomic_store(&seen, 1);
    return unused;
}

__attribute__((constructor)) static void start(void) {
    pthread_create(&early, 0, work, 0);
}

int main(void) {
    atomic_store(&wanted, 1);
    pthread_join(early, 0);
    return atomic_load(&seen) ? 0 : 1;
}
