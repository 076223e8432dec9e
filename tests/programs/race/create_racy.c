//@ expect: race
//@ race: late use
// What the creator writes behind pthread_create is not for the new strand.
#include <pthread.h>

int data, seen;

static void *work(void *arg) {
    seen = data; //~ use
    return arg;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    data = 1; //~ late
    pthread_join(strand, 0);
    return 0;
}
