// A switch.
//@ holds EXIT ::on != orig(::on)
#include <pthread.h>
#include <stdbool.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool on;

__attribute__((noinline)) static void step(void) {
    on = !on;
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
