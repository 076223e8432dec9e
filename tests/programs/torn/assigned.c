//@ expect: assertion
// gcc announces the write of an assignment of structures before the read, and makes both after that: they are one step, and a
// look at the result comes before or after all of it.
#include <assert.h>
#include <pthread.h>

struct pair {
    int low, high;
};

static struct pair from, to;
static int seen;

static void *assigns(void *unused) {
    to = from;
    return unused;
}

static void *looks(void *unused) {
    from.low = 1;
    seen = to.low;
    return unused;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, 0, assigns, 0);
    pthread_create(&second, 0, looks, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    assert(seen == 0); //~ here
    return 0;
}
