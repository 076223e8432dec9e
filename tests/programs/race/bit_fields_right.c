//@ expect: pass
// A bit-field of width 0 ends a memory location.
#include <pthread.h>

struct {
    unsigned left : 4;
    unsigned : 0;
    unsigned right : 4;
} x;

static void *work(void *arg) {
    x.left = 1;
    return arg;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    x.right = 2;
    pthread_join(strand, 0);
    return 0;
}
