// One is twice the other and three.
//@ holds ENTER ::y == 2*::x + 3
//@ holds ENTER ::x >= 0
//@ holds ENTER ::x <= 8
//@ holds EXIT ::x == orig(::x) + 1
//@ holds EXIT ::y == orig(::y) + 2
//@ holds EXIT ::y == 2*::x + 3
//@ holds EXIT ::x >= 1
//@ holds EXIT ::x <= 9
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int x, y = 3;

__attribute__((noinline)) static void step(void) {
    x = x + 1;
    y = 2 * x + 3;
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
