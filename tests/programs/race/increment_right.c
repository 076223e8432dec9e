//@ expect: pass
// Two strands add to one atomic variable.
#include <pthread.h>
#include <stdatomic.h>

atomic_int total;

static void *work(void *arg) {
    total++;
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
