// The lower stays below the upper.
//@ holds ENTER ::high == 3*::low + 5
//@ holds ENTER ::high >= 1
//@ holds ENTER ::low >= 0
//@ holds ENTER ::low <= 8
//@ holds ENTER ::high % 3 == 2
//@ holds EXIT ::low == orig(::low) + 1
//@ holds EXIT ::high == orig(::high) + 3
//@ holds EXIT ::high == 3*::low + 5
//@ holds EXIT ::high >= 1
//@ holds EXIT ::low >= 1
//@ holds EXIT ::low <= 9
//@ holds EXIT orig(::high) >= 1
//@ holds EXIT ::high % 3 == 2
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int low, high = 5;

__attribute__((noinline)) static void step(void) {
    low = low + 1;
    high = high + 3;
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
