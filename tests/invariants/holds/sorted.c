// An array that stays sorted.
//@ holds ENTER size(::all) == 3
//@ holds ENTER min(::all) == ::all[0]
//@ holds ENTER max(::all) == ::all[2]
//@ holds ENTER sum(::all) == ::all[2] + 6
//@ holds ENTER min(::all) == -::all[1] + 6
//@ holds ENTER max(::all) == 2*::all[1] - 1
//@ holds ENTER min(::all) >= -7
//@ holds ENTER min(::all) <= 1
//@ holds EXIT min(::all) == orig(min(::all)) - 1
//@ holds EXIT ::all[1] == orig(::all[1]) + 1
//@ holds EXIT max(::all) == orig(max(::all)) + 2
//@ holds EXIT sum(::all) == orig(sum(::all)) + 2
//@ holds EXIT ::all != orig(::all)
//@ holds EXIT size(::all) == 3
//@ holds EXIT orig(size(::all)) == 3
//@ holds EXIT min(::all) == ::all[0]
//@ holds EXIT max(::all) == ::all[2]
//@ holds EXIT orig(min(::all)) == orig(::all[0])
//@ holds EXIT orig(max(::all)) == orig(::all[2])
//@ holds EXIT sum(::all) == ::all[2] + 6
//@ holds EXIT min(::all) == -::all[1] + 6
//@ holds EXIT max(::all) == 2*::all[1] - 1
//@ holds EXIT min(::all) >= -8
//@ holds EXIT min(::all) <= 0
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int all[3] = {1, 5, 9};

__attribute__((noinline)) static void step(void) {
    all[0] = all[0] - 1;
    all[1] = all[1] + 1;
    all[2] = all[2] + 2;
}

static void *strand(void *unused) {
    for (int round = 0; round < 3; round++) {
        pthread_mutex_lock(&lock);
        step();
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void) {
    pthread_t all[3];
    for (int at = 0; at < 3; at++) {
        pthread_create(&all[at], 0, strand, 0);
    }
    for (int at = 0; at < 3; at++) {
        pthread_join(all[at], 0);
    }
    return 0;
}
