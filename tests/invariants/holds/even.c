// It goes down by two.
//@ holds ENTER ::x >= 84
//@ holds ENTER ::x <= 100
//@ holds ENTER ::x % 2 == 0
//@ holds EXIT ::x == orig(::x) - 2
//@ holds EXIT ::x >= 82
//@ holds EXIT ::x <= 98
//@ holds EXIT ::x % 2 == 0
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int x = 100;

__attribute__((noinline)) static void step(void) {
    x = x - 2;
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
