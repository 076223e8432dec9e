//@ expect: pass
// A write that crosses a border of eight bytes, and the first byte after it.
#include <pthread.h>

struct __attribute__((packed)) Packed {
    char before[6];
    int wide;
    char after[6];
};

_Alignas(16) struct Packed x;

static void *work(void *arg) {
    x.wide = 1;
    return arg;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    ((volatile char *)&x)[10] = 2;
    pthread_join(strand, 0);
    return 0;
}
