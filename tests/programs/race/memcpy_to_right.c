//@ expect: pass
// memcpy writes a range; another strand reads the byte before it.
#include <pthread.h>
#include <string.h>

char from[64], to[80], seen;
volatile size_t length = 50;

static void *work(void *arg) {
    memcpy(to + 5, from, length);
    return arg;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    seen = to[4];
    pthread_join(strand, 0);
    return 0;
}
