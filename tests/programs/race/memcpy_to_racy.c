//@ expect: race
//@ race: copy byte
// memcpy writes a range that another strand reads from.
#include <pthread.h>
#include <string.h>

char from[64], to[80], seen;
volatile size_t length = 50;

static void *work(void *arg) {
    memcpy(to + 5, from, length); //~ copy
    return arg;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    seen = to[5]; //~ byte
    pthread_join(strand, 0);
    return 0;
}
