//@ expect: race
//@ race: whole half
// Eight bytes are written by one strand, the upper four of them by another.
#include <pthread.h>
#include <stdint.h>

struct {
    union {
        uint64_t whole;
        uint32_t half[2];
    };
    uint32_t beside;
} x;

static void *work(void *arg) {
    x.whole = 1; //~ whole
    return arg;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    x.half[1] = 2; //~ half
    pthread_join(strand, 0);
    return 0;
}
