// Two go together.
//@ holds ENTER ::a == ::b
//@ holds ENTER ::a >= 0
//@ holds ENTER ::a <= 8
//@ holds EXIT ::a == orig(::a) + 1
//@ holds EXIT ::a == ::b
//@ holds EXIT orig(::a) == orig(::b)
//@ holds EXIT ::a >= 1
//@ holds EXIT ::a <= 9
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int a, b;

__attribute__((noinline)) static void step(void) {
    a = a + 1;
    b = b + 1;
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
