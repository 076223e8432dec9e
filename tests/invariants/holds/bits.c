// A bit that is always set.
//@ holds ENTER ::flags >= 17
//@ holds ENTER ::flags <= 33
//@ holds ENTER ::flags % 2 == 1
//@ holds EXIT ::flags == orig(::flags) + 2
//@ holds EXIT ::flags >= 19
//@ holds EXIT ::flags <= 35
//@ holds EXIT ::flags % 2 == 1
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned flags = 0x11;

__attribute__((noinline)) static void step(void) {
    flags = flags + 2;
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
