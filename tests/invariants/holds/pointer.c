// A pointer that is never null.
//@ holds ENTER ::p != NULL
//@ holds EXIT ::p != orig(::p)
//@ holds EXIT ::p != NULL
//@ holds EXIT orig(::p) != NULL
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int one, other;
static int *p = &one;

__attribute__((noinline)) static void step(void) {
    p = p == &one ? &other : &one;
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
