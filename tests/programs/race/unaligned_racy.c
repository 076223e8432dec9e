//@ expect: race
//@ race: wide byte
// A write that crosses a border of eight bytes, and one byte behind that border.
#include <pthread.h>

struct __attribute__((packed)) Packed {
    char before[6];
    int wide;
    char after[6];
};

_Alignas(16) struct Packed x;

static void *work(void *arg) {
    x.wide = 1; //~ wide
    return arg;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    ((volatile char *)&x)[9] = 2; //~ byte
    pthread_join(strand, 0);
    return 0;
}
