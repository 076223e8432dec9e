//@ expect: assertion
//@ preemptions: 1
//@ pair: high-set high-seen
//@ pair: low-set low-seen
// A reader sees one half of an update.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int low, high;

static void *update(void *unused) {
    (void)unused;
    atomic_store_explicit(&low, 1, memory_order_relaxed); //~ low-set
    atomic_store_explicit(&high, 1, memory_order_relaxed); //~ high-set
    return 0;
}

static void *check(void *unused) {
    (void)unused;
    int l = atomic_load_explicit(&low, memory_order_relaxed); //~ low-seen
    int h = atomic_load_explicit(&high, memory_order_relaxed); //~ high-seen
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
