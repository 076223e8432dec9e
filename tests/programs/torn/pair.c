//@ expect: assertion
// A reader sees one half of an update.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int low, high;

static void *update(void *unused) {
    (void)unused;
    atomic_store_explicit(&low, 1, memory_order_relaxed);
    atomic_store_explicit(&high, 1, memory_order_relaxed);
    return 0;
}

static void *check(void *unused) {
    (void)unused;
    int l = atomic_load_explicit(&low, memory_order_relaxed);
    int h = atomic_load_explicit(&high, memory_order_relaxed);
    assert(l == h); //~ here
    return 0;
}

int main(void) {
    pthread_t writer, reader;
    pthread_create(&writer, 0, update, 0);
    pthread_create(&reader, 0, check, 0);
    pthread_join(writer, 0);
    pthread_join(reader, 0);
    return 0;
}
