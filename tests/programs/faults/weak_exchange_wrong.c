// A weak exchange that fails is taken for another strand's success.
//@ expect: assertion
//@ max-runs: 200
//@ compilers: gcc
//@ bare: any
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int owner, lost;

static void claim(int mine) {
    int found = 0;
    if (!atomic_compare_exchange_weak(&owner, &found, mine) && found == 0)
        atomic_fetch_add(&lost, 1);
}

static void *run(void *unused) {
    claim(2);
    return unused;
}

int main(void) {
    pthread_t other;
    pthread_create(&other, NULL, run, NULL);
    claim(1);
    pthread_join(other, NULL);
    assert(atomic_load(&owner) != 0 && atomic_load(&lost) == 0);
    return 0;
}
