// One of the values, in one order, fails: both are choices of the schedule.
//@ expect: assertion
//@ flags: -I../crates/threadbare/include
//@ max-runs: 500
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <threadbare.h>

static atomic_int seen;

static void *look(void *unused) {
    atomic_fetch_add(&seen, 1);
    return unused;
}

int main(void) {
    static const int sizes[] = {4, 8, 15, 16, 23, 42};
    pthread_t looker;
    int size = threadbare_one_of(sizes);
    pthread_create(&looker, NULL, look, NULL);
    assert(atomic_load(&seen) == 0 || size != 23);
    pthread_join(looker, NULL);
    return 0;
}
