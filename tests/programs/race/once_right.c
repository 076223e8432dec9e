//@ expect: pass
// pthread_once: whoever comes later has what the first one did.
#include <pthread.h>

pthread_once_t once = PTHREAD_ONCE_INIT;
int data;
__thread volatile int seen;

static void fill(void) {
    data = 1;
}

static void *work(void *arg) {
    pthread_once(&once, fill);
    seen = data;
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
