//@ expect: race
//@ race: append byte
// strcat reads the text it appends to, and writes behind it.
#include <pthread.h>
#include <string.h>

char from[8], to[32];

static void *work(void *arg) {
    strcat(to, from); //~ append
    return arg;
}

int main(void) {
    volatile char *fill = from;
    fill[0] = fill[1] = 'x';
    fill = to;
    fill[0] = fill[1] = fill[2] = 'y';
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    to[4] = 1; //~ byte
    pthread_join(strand, 0);
    return 0;
}
