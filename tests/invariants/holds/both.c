// A field counts up, its neighbour down.
//@ holds ENTER ::pair.down == -::pair.up + 50
//@ holds ENTER ::pair.down >= 42
//@ holds ENTER ::pair.down <= 50
//@ holds EXIT ::pair.down == orig(::pair.down) - 1
//@ holds EXIT ::pair.up == orig(::pair.up) + 1
//@ holds EXIT ::pair.down == -::pair.up + 50
//@ holds EXIT ::pair.down >= 41
//@ holds EXIT ::pair.down <= 49
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct { short up; long down; } pair = {0, 50};

__attribute__((noinline)) static void step(void) {
    pair.up = pair.up + 1;
    pair.down = pair.down - 1;
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
