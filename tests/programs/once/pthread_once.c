//@ expect: pass
// The initialiser runs once, and everybody sees what it did.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int *value, calls;

static void init(void) {
    calls++;
    value = malloc(sizeof *value);
    *value = 9;
}

static void *use(void *unused) {
    (void)unused;
    assert(pthread_once(&once, init) == 0);
    assert(*value == 9);
    return 0;
}

int main(void) {
    pthread_t strands[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&strands[i], 0, use, 0);
    use(0);
    for (int i = 0; i < 3; i++)
        pthread_join(strands[i], 0);
    assert(calls == 1);
    free(value);
    return 0;
}
