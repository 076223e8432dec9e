//@ expect: assertion
//@ preemptions: 2
// One instruction writes all three values: only its callers tell which.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int value;

__attribute__((noinline)) static void set(int to) { atomic_store(&value, to); }

static void *count(void *unused) {
    (void)unused;
    set(1);
    set(2);
    set(3);
    return 0;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, count, 0);
    assert(atomic_load(&value) != 2); //~ here
    pthread_join(strand, 0);
    return 0;
}
