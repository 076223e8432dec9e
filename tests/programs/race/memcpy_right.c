//@ expect: pass
// memcpy reads a range; another strand writes the byte behind it.
#include <pthread.h>
#include <string.h>

char from[65], to[65];
volatile size_t length = 64;

static void *work(void *arg) {
    memcpy(to, from, length);
    return arg;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    from[64] = 1;
    pthread_join(strand, 0);
    return 0;
}
