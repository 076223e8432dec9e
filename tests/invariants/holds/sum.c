// An array whose sum stays.
//@ holds ENTER size(::all) == 3
//@ holds ENTER sum(::all) == 60
//@ holds ENTER min(::all) == ::all[0]
//@ holds ENTER ::all[2] == 2*min(::all) + 10
//@ holds ENTER ::all[1] == -3*min(::all) + 50
//@ holds ENTER min(::all) >= 2
//@ holds ENTER min(::all) <= 10
//@ holds ENTER max(::all) >= 1
//@ holds ENTER max(::all) > ::all[0]
//@ holds ENTER max(::all) >= ::all[1]
//@ holds ENTER max(::all) >= ::all[2]
//@ holds EXIT min(::all) == orig(min(::all)) - 1
//@ holds EXIT ::all[2] == orig(::all[2]) - 2
//@ holds EXIT ::all[1] == orig(::all[1]) + 3
//@ holds EXIT max(::all) > orig(::all[0])
//@ holds EXIT ::all != orig(::all)
//@ holds EXIT size(::all) == 3
//@ holds EXIT sum(::all) == 60
//@ holds EXIT orig(size(::all)) == 3
//@ holds EXIT orig(sum(::all)) == 60
//@ holds EXIT min(::all) == ::all[0]
//@ holds EXIT orig(min(::all)) == orig(::all[0])
//@ holds EXIT ::all[2] == 2*min(::all) + 10
//@ holds EXIT ::all[1] == -3*min(::all) + 50
//@ holds EXIT min(::all) >= 1
//@ holds EXIT min(::all) <= 9
//@ holds EXIT max(::all) >= 1
//@ holds EXIT orig(max(::all)) >= 1
//@ holds EXIT max(::all) >= ::all[1]
//@ holds EXIT max(::all) >= ::all[2]
//@ holds EXIT orig(max(::all)) > orig(::all[0])
//@ holds EXIT orig(max(::all)) >= orig(::all[1])
//@ holds EXIT orig(max(::all)) >= orig(::all[2])
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int all[3] = {10, 20, 30};

__attribute__((noinline)) static void step(void) {
    all[0] = all[0] - 1;
    all[1] = all[1] + 3;
    all[2] = all[2] - 2;
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
