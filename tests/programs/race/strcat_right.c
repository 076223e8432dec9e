//@ expect: pass
// strcat writes no further than the joined text goes.
#include <pthread.h>
#include <string.h>

char from[8], to[32];

static void *work(void *arg) {
    strcat(to, from);
    return arg;
}

int main(void) {
    volatile char *fill = from;
    fill[0] = fill[1] = 'x';
    fill = to;
    fill[0] = fill[1] = fill[2] = 'y';
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    to[6] = 1;
    pthread_join(strand, 0);
    return 0;
}
