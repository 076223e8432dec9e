// A flag that is set before what it stands for: of the runs that pass few differ.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int ready;
static atomic_int data;

static void *produce(void *none) {
    atomic_store(&ready, 1);
    atomic_store(&data, 7); //~ first
    return none;
}

static void *consume(void *none) {
    if (atomic_load(&ready)) {
        int found = atomic_load(&data); //~ second
        assert(found == 7);
    }
    return none;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, produce, 0);
    pthread_create(&two, 0, consume, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
