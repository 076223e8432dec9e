// What one gives the other takes.
//@ holds ENTER ::from == -::to + 100
//@ holds ENTER ::to >= 1
//@ holds ENTER ::from % 10 == 0
//@ holds EXIT ::from == orig(::from) - 10
//@ holds EXIT ::to == orig(::to) + 10
//@ holds EXIT ::from == -::to + 100
//@ holds EXIT ::to >= 1
//@ holds EXIT orig(::to) >= 1
//@ holds EXIT ::from % 10 == 0
//@ holds EXIT ::from <= ::to
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int from = 60, to = 40;

__attribute__((noinline)) static void step(void) {
    from = from - 10;
    to = to + 10;
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
