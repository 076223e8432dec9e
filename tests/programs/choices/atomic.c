// An update that is lost unless nobody comes in between: the plain one is.
//@ expect: assertion
//@ flags: -I../crates/threadbare/include
//@ max-runs: 300
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <threadbare.h>

static atomic_int plain, guarded;

static void *add(void *unused) {
    threadbare_atomic_begin();
    atomic_store(&guarded, atomic_load(&guarded) + 1);
    threadbare_atomic_end();
    atomic_store(&plain, atomic_load(&plain) + 1);
    return unused;
}

int main(void) {
    pthread_t adder;
    pthread_create(&adder, NULL, add, NULL);
    add(NULL);
    pthread_join(adder, NULL);
    assert(atomic_load(&guarded) == 2 && "nobody comes in between");
    assert(atomic_load(&plain) == 2); //~ here
    return 0;
}
