//@ expect: pass
// What the creator wrote before pthread_create is for the new strand.
#include <pthread.h>

int data, seen;

static void *work(void *arg) {
    seen = data;
    return arg;
}

int main(void) {
    pthread_t strand;
    data = 1;
    pthread_create(&strand, 0, work, 0);
    pthread_join(strand, 0);
    return 0;
}
