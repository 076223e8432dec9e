//@ expect: pass
// A strand that spins when the process ends has looked as often as it likes: that is one order, not many.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int never, some;

static void *spins(void *unused) {
    atomic_store(&some, 1);
    while (!atomic_load(&never)) {}
    return unused;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, spins, 0);
    return 0;
}
