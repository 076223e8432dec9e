//@ expect: pass
// Main returns without waiting for its strands; wherever they are then, all is well.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int done;

static void *writes(void *unused) {
    for (int at = 1; at <= 7; at++) atomic_store(&done, at);
    return unused;
}

static void *reads(void *unused) {
    assert(atomic_load(&done) <= 7);
    return unused;
}

int main(void) {
    pthread_t writer, reader;
    pthread_create(&writer, 0, writes, 0);
    pthread_create(&reader, 0, reads, 0);
    return 0;
}
