//@ expect: race
//@ race: copy byte
// memcpy reads a range that another strand writes to.
#include <pthread.h>
#include <string.h>

char from[65], to[65];
volatile size_t length = 64;

static void *work(void *arg) {
    memcpy(to, from, length); //~ copy
    return arg;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    from[63] = 1; //~ byte
    pthread_join(strand, 0);
    return 0;
}
