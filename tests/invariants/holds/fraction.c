// A fraction grows by a half.
//@ holds ENTER ::level > 0.0
//@ holds EXIT ::level == orig(::level) + 0.5
//@ holds EXIT ::level > 0.0
//@ holds EXIT orig(::level) > 0.0
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static double level = 0.25;

__attribute__((noinline)) static void step(void) {
    level = level + 0.5;
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
