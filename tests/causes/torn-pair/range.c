// The writer stands between the ends of a range that had none before.
//@ expect: assertion
//@ pair: low get_low
//@ pair: high get_high
//@ pattern: torn-pair
//@ object: range.low|range.high
#include <assert.h>
#include <pthread.h>

static volatile struct {
    int low, high;
} range;

static void *open_range(void *arg) {
    range.low = 5; //~ low
    range.high = 10; //~ high
    return arg;
}

static void *look(void *arg) {
    int low = range.low; //~ get_low
    int high = range.high; //~ get_high
    assert(low <= high); //~ end
    return arg;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, open_range, 0);
    pthread_create(&two, 0, look, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
