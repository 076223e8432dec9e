//@ expect: pass
// strcmp reads no further than the first difference.
#include <pthread.h>
#include <string.h>

char a[32], b[32];
volatile int differs;

static void *work(void *arg) {
    differs = strcmp(a, b);
    return arg;
}

int main(void) {
    volatile char *fill = a;
    fill[0] = fill[1] = fill[2] = fill[3] = 'a';
    fill = b;
    fill[0] = 'a', fill[1] = 'b', fill[2] = 'a';
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    a[3] = 'b';
    pthread_join(strand, 0);
    return 0;
}
