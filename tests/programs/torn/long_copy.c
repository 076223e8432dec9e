//@ expect: assertion
// The word that both touch lies beyond the first 64 KiB of what is copied.
#include <assert.h>
#include <pthread.h>
#include <string.h>

enum { SIZE = 200000 };

static char from[SIZE], to[SIZE];
static volatile int seen;

static void *copies(void *unused) {
    memcpy(to, from, SIZE);
    return unused;
}

static void *writes(void *unused) {
    from[SIZE - 8] = 1;
    seen = to[SIZE - 8];
    return unused;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, 0, copies, 0);
    pthread_create(&second, 0, writes, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    assert(!seen); //~ here
    return 0;
}
