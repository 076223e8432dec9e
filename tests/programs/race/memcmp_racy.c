//@ expect: race
//@ race: compare write
// memcmp reads what another strand writes.
#include <pthread.h>
#include <string.h>

char a[40], b[40];
volatile int differs;
volatile size_t length = 40;

static void *work(void *arg) {
    differs = memcmp(a, b, length); //~ compare
    return arg;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    b[0] = 1; //~ write
    pthread_join(strand, 0);
    return 0;
}
