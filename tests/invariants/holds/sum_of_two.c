// The third is the sum of two.
//@ holds ENTER ::z == ::x + ::y
//@ holds ENTER ::x >= 0
//@ holds ENTER ::y >= 1
//@ holds ENTER ::x % 3 == 0
//@ holds ENTER ::y % 3 == 2
//@ holds ENTER ::z % 3 == 2
//@ holds ENTER ::x < ::y
//@ holds EXIT ::x == orig(::x) + 3
//@ holds EXIT ::y == orig(::z) + 3
//@ holds EXIT ::y == ::x + orig(::y)
//@ holds EXIT ::x < orig(::y)
//@ holds EXIT ::x < orig(::z)
//@ holds EXIT ::z == ::x + ::y
//@ holds EXIT ::x >= 1
//@ holds EXIT ::y >= 1
//@ holds EXIT orig(::x) >= 0
//@ holds EXIT orig(::y) >= 1
//@ holds EXIT orig(::z) >= 1
//@ holds EXIT ::x % 3 == 0
//@ holds EXIT ::y % 3 == 2
//@ holds EXIT ::z % 3 == 2
//@ holds EXIT orig(::y) % 3 == 2
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int x, y = 5, z = 5;

__attribute__((noinline)) static void step(void) {
    x = x + 3;
    y = y + x;
    z = x + y;
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
