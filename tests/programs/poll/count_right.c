//@ expect: pass
// The same poll, and a caller that waits properly when it has given up.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int flag;

static void *poll(void *unused) {
    (void)unused;
    int i;
    for (i = 0; i < 12; i++)
        if (atomic_load(&flag)) break;
    if (i == 12)
        while (!atomic_load(&flag)) {
        }
    assert(atomic_load(&flag));
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
