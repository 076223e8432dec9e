// One cell of many is changed in two steps; everybody counts what it does.
//@ expect: assertion
//@ pair: low get_low
//@ pair: high get_high
//@ pattern: torn-pair
//@ object: cells[2].low|cells[2].high
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static struct cell {
    volatile int low, high;
    atomic_int uses;
} cells[3];
static atomic_int writes, reads, ready;

static void *writer(void *arg) {
    atomic_store(&ready, 1);
    for (int i = 0; i < 3; i++) {
        atomic_fetch_add(&writes, 1);
        atomic_fetch_add(&cells[i].uses, 1);
        cells[i].low = i + 1; //~ low
        cells[i].high = i + 1; //~ high
        atomic_fetch_add(&writes, 1);
    }
    return arg;
}

int main(void) {
    pthread_t other;
    pthread_create(&other, 0, writer, 0);
    while (!atomic_load(&ready)) {
    }
    atomic_fetch_add(&reads, 1);
    int low = cells[2].low; //~ get_low
    int high = cells[2].high; //~ get_high
    atomic_fetch_add(&reads, 1);
    assert(low == high); //~ end
    pthread_join(other, 0);
    return 0;
}
