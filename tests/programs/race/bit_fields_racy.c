//@ expect: race
//@ race: left right
// Two bit-fields side by side are one memory location.
#include <pthread.h>

struct {
    unsigned left : 4;
    unsigned right : 4;
} x;

static void *work(void *arg) {
    x.left = 1; //~ left
    return arg;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    x.right = 2; //~ right
    pthread_join(strand, 0);
    return 0;
}
