//@ expect: pass
// What came before a strand's creation comes before its children too.
#include <pthread.h>

int data, seen;

static void *look(void *arg) {
    seen = data;
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
    data = 1;
    pthread_create(&strand, 0, make, 0);
    pthread_join(strand, 0);
    return 0;
}
