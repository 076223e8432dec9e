/* Loads, stores, additions and exchanges of atomic words, some of each strand's own, some of both. */
#include <pthread.h>
#include <stdatomic.h>

enum { ROUNDS = 4000 };

static atomic_long shared, flag, own[2];

static void *add(void *arg) {
    long me = (long)arg;
    for (int i = 0; i < ROUNDS; i++) {
        atomic_fetch_add_explicit(&own[me], 1, memory_order_relaxed);
        atomic_fetch_add(&shared, 1);
        if (atomic_load_explicit(&flag, memory_order_acquire) != i)
            atomic_store_explicit(&flag, i, memory_order_release);
        long seen = atomic_load_explicit(&shared, memory_order_relaxed);
        atomic_compare_exchange_strong(&shared, &seen, seen + 1);
    }
    return NULL;
}

int main(void) {
    pthread_t strands[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&strands[i], NULL, add, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(strands[i], NULL);
    return atomic_load(&own[0]) != ROUNDS;
}
