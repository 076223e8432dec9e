// A result is put beside a flag. Both are atomic, so there is no data race; the order is missing.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int result, ready;

static void *work(void *unused) {
    atomic_store_explicit(&result, 42, memory_order_relaxed);
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    return unused;
}

int main(void) {
    pthread_t worker;
    pthread_create(&worker, 0, work, 0);
    if (atomic_load_explicit(&ready, memory_order_acquire))
        assert(atomic_load_explicit(&result, memory_order_relaxed) == 42);
    pthread_join(worker, 0);
    return 0;
}
