// A limit that nobody changes.
//@ holds ENTER ::limit == 0
//@ holds ENTER ::used >= 0
//@ holds ENTER ::used <= 8
//@ holds EXIT ::used == orig(::used) + 1
//@ holds EXIT ::limit == 0
//@ holds EXIT orig(::limit) == 0
//@ holds EXIT ::used >= 1
//@ holds EXIT ::used <= 9
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int limit, used;

__attribute__((noinline)) static void step(void) {
    used = limit < 10 ? used + 1 : 0;
    limit = limit;
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
