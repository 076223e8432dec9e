//@ expect: pass
// strncpy writes as many bytes as it was told, and no more.
#include <pthread.h>
#include <string.h>

char from[32], to[32];
volatile size_t length = 20;

static void *work(void *arg) {
    strncpy(to, from, length);
    return arg;
}

int main(void) {
    volatile char *fill = from;
    fill[0] = fill[1] = 'x';
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    to[20] = 1;
    pthread_join(strand, 0);
    return 0;
}
