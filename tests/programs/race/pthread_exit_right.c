//@ expect: pass
// A strand that ends by pthread_exit hands its result to the one that joins it.
#include <pthread.h>

int data, seen;

static void *work(void *arg) {
    data = 1;
    pthread_exit(arg);
}

static void *look(void *arg) {
    seen = data;
    pthread_exit(arg);
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_join(a, 0);
    pthread_create(&b, 0, look, 0);
    pthread_join(b, 0);
    return 0;
}
