//@ expect: pass
// Whoever drops the last reference frees.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct shared {
    atomic_int references;
    int payload;
};

static void *release(void *argument) {
    struct shared *shared = argument;
    if (atomic_fetch_sub(&shared->references, 1) == 1)
        free(shared);
    return 0;
}

int main(void) {
    pthread_t one, two;
    struct shared *shared = calloc(1, sizeof *shared);
    atomic_store(&shared->references, 3);
    pthread_create(&one, 0, release, shared);
    pthread_create(&two, 0, release, shared);
    release(shared);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
