// A name that is one of two.
//@ holds ENTER ::name one of {"bob", "eve"}
//@ holds EXIT ::name != orig(::name)
//@ holds EXIT ::name one of {"bob", "eve"}
//@ holds EXIT orig(::name) one of {"bob", "eve"}
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char name[4] = "bob";

__attribute__((noinline)) static void step(void) {
    int was = name[0] == 'b';
    name[0] = was ? 'e' : 'b';
    name[1] = was ? 'v' : 'o';
    name[2] = was ? 'e' : 'b';
    name[3] = 0;
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
