//@ expect: race
//@ race: own own
// Each strand fills its part of an array; the parts share one element.
#include <pthread.h>

int x[8];

static void *work(void *from) {
    for (int *at = from; at < (int *)from + 5 && at < x + 8; at++)
        *at = 1; //~ own
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
