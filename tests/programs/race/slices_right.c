//@ expect: pass
// Each strand fills its part of an array.
#include <pthread.h>

int x[8];

static void *work(void *from) {
    for (int *at = from; at < (int *)from + 4; at++)
        *at = 1;
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, x);
    pthread_create(&b, 0, work, x + 4);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
