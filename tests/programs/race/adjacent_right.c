//@ expect: pass
// Every byte of a word has a strand of its own, and so has every half of another word.
#include <pthread.h>

_Alignas(8) struct {
    char bytes[8];
    short halves[4];
} x;

static void *low(void *arg) {
    for (int i = 0; i < 8; i += 2)
        x.bytes[i] = 1;
    x.halves[0] = x.halves[2] = 1;
    return arg;
}

static void *high(void *arg) {
    for (int i = 1; i < 8; i += 2)
        x.bytes[i] = 2;
    x.halves[1] = x.halves[3] = 2;
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, low, 0);
    pthread_create(&b, 0, high, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
