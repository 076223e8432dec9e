//@ expect: race
//@ race: copy byte
// strcpy writes as far as the text goes, its final byte included.
#include <pthread.h>
#include <string.h>

char from[32], to[32];

static void *work(void *arg) {
    strcpy(to, from); //~ copy
    return arg;
}

int main(void) {
    volatile char *fill = from;
    for (int i = 0; i < 7; i++)
        fill[i] = 'x';
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    to[7] = 1; //~ byte
    pthread_join(strand, 0);
    return 0;
}
