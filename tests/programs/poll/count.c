//@ expect: assertion
//@ bare: any
// A poll that gives up after twelve looks, and a caller that takes for granted that it does not.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int flag;

static void *poll(void *unused) {
    (void)unused;
    int i;
    for (i = 0; i < 12; i++)
        if (atomic_load(&flag)) break;
    assert(i < 12); //~ here
    return 0;
}

static void *set(void *unused) {
    (void)unused;
    atomic_store(&flag, 1);
    return 0;
}

int main(void) {
    pthread_t strands[2];
    pthread_create(&strands[0], 0, poll, 0);
    pthread_create(&strands[1], 0, set, 0);
    for (int i = 0; i < 2; i++) pthread_join(strands[i], 0);
    return 0;
}
