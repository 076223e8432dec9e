//@ expect: race
//@ race: late use
// A strand writes behind the creation of its child, whose own child reads.
#include <pthread.h>

int data, seen;

static void *look(void *arg) {
    seen = data; //~ use
    return arg;
}

static void *make(void *arg) {
    pthread_t strand;
    pthread_create(&strand, 0, look, 0);
    pthread_join(strand, 0);
    return arg;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, make, 0);
    data = 1; //~ late
    pthread_join(strand, 0);
    return 0;
}
