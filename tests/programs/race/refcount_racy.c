//@ expect: race
//@ race: touch release
//@ may-race: count release
// The last owner frees, but the count's relaxed order tells it nothing of what the others did.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct Shared {
    atomic_int owners;
    int values[2];
};

struct Owner {
    struct Shared *shared;
    int slot;
};

static void *work(void *arg) {
    struct Owner *owner = arg;
    struct Shared *shared = owner->shared;
    shared->values[owner->slot] = 1; //~ touch
    if (atomic_fetch_sub_explicit(&shared->owners, 1, memory_order_relaxed) == 1) //~ count
        free(shared); //~ release
    return 0;
}

int main(void) {
    struct Shared *shared = calloc(1, sizeof *shared);
    shared->owners = 2;
    struct Owner owners[2] = {{shared, 0}, {shared, 1}};
    pthread_t a, b;
    pthread_create(&a, 0, work, &owners[0]);
    pthread_create(&b, 0, work, &owners[1]);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
