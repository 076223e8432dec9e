//@ expect: race
//@ race: fill fill
// Two memsets whose ranges share a byte.
#include <pthread.h>
#include <string.h>

char x[64];
volatile size_t length = 31;

static void *work(void *at) {
    memset(at, 1, length); //~ fill
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, x);
    pthread_create(&b, 0, work, x + 30);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
