//@ expect: assertion
//@ args: 2
// Bugs of a known depth: so many ordering constraints make them show, whatever else the strands do. `tests/rates.rs` counts how often.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int own[2], ready, data = 1, place;
static int depth;

static void *first(void *unused) {
    switch (depth) {
    case 1: // It is used before it is ready.
        for (int i = 0; i < 8; i++)
            atomic_fetch_add(&own[0], 1);
        atomic_store(&ready, 1);
        break;
    case 2: // It goes away between the check and the use.
        atomic_fetch_add(&own[0], 1);
        if (atomic_load(&data))
            assert(atomic_load(&data)); //~ here
        break;
    default: // Each of the two comes between two steps of the other.
        atomic_store(&place, 1);
        atomic_store(&place, 2);
    }
    return unused;
}

static void *second(void *unused) {
    switch (depth) {
    case 1:
        assert(atomic_load(&ready));
        break;
    case 2:
        atomic_fetch_add(&own[1], 1);
        atomic_store(&data, 0);
        break;
    default:
        if (atomic_exchange(&place, 3) == 1)
            assert(atomic_exchange(&place, 4) != 2);
    }
    return unused;
}

int main(int argc, char **argv) {
    pthread_t one, two;
    depth = argc > 1 ? atoi(argv[1]) : 2;
    pthread_create(&one, 0, first, 0);
    pthread_create(&two, 0, second, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
