//@ expect: assertion
// Two variables in one word of memory: what is known of one must not hide the other.
#include <assert.h>
#include <pthread.h>

static volatile int flags[2];
static long seen[2];

static void *first(void *unused) {
    flags[0] = 1;
    seen[0] = flags[1];
    return unused;
}

static void *second(void *unused) {
    flags[1] = 1;
    seen[1] = flags[0];
    return unused;
}

int main(void) {
    pthread_t strands[2];
    pthread_create(&strands[0], 0, first, 0);
    pthread_create(&strands[1], 0, second, 0);
    pthread_join(strands[0], 0);
    pthread_join(strands[1], 0);
    assert(seen[0] == 0 || seen[1] == 0); //~ here
    return 0;
}
