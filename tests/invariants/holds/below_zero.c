// It stays below zero.
//@ holds ENTER ::debt <= -1
//@ holds ENTER ::debt % 5 == 0
//@ holds EXIT ::debt == 2*orig(::debt)
//@ holds EXIT ::debt <= -1
//@ holds EXIT ::debt % 10 == 0
//@ holds EXIT orig(::debt) % 5 == 0
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int debt = -5;

__attribute__((noinline)) static void step(void) {
    debt = debt * 2;
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
