//@ expect: pass
// strcpy writes no further than the text goes.
#include <pthread.h>
#include <string.h>

char from[32], to[32];

static void *work(void *arg) {
    strcpy(to, from);
    return arg;
}

int main(void) {
    volatile char *fill = from;
    for (int i = 0; i < 7; i++)
        fill[i] = 'x';
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    to[8] = 1;
    pthread_join(strand, 0);
    return 0;
}
