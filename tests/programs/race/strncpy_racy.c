//@ expect: race
//@ race: copy byte
// strncpy fills its whole range with zeros.
#include <pthread.h>
#include <string.h>

char from[32], to[32];
volatile size_t length = 20;

static void *work(void *arg) {
    strncpy(to, from, length); //~ copy
    return arg;
}

int main(void) {
    volatile char *fill = from;
    fill[0] = fill[1] = 'x';
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    to[19] = 1; //~ byte
    pthread_join(strand, 0);
    return 0;
}
