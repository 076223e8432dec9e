// A seat is looked for and taken in two steps.
//@ expect: assertion
//@ pair: check act
//@ pattern: check-then-act
//@ object: seats
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int seats = 1;

static void *book(void *arg) {
    (void)arg;
    if (atomic_load(&seats) > 0) //~ check
        atomic_fetch_sub(&seats, 1); //~ act
    return 0;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, book, 0);
    pthread_create(&two, 0, book, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    assert(atomic_load(&seats) >= 0); //~ end
    return 0;
}
