// A generation that is odd.
//@ holds ENTER ::generation >= 1
//@ holds ENTER ::generation <= 17
//@ holds ENTER ::generation % 2 == 1
//@ holds EXIT ::generation == orig(::generation) + 2
//@ holds EXIT ::generation >= 3
//@ holds EXIT ::generation <= 19
//@ holds EXIT ::generation % 2 == 1
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned generation = 1;

__attribute__((noinline)) static void step(void) {
    generation = generation + 2;
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
