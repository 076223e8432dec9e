//@ expect: pass
// What was written before a barrier is read behind it.
#include <pthread.h>

pthread_barrier_t barrier;
int data[2];
__thread volatile int seen;

static void *work(void *arg) {
    int *own = arg, *other = own == data ? data + 1 : data;
    *own = 1;
    pthread_barrier_wait(&barrier);
    seen = *other;
    return 0;
}

int main(void) {
    pthread_barrier_init(&barrier, 0, 2);
    pthread_t a, b;
    pthread_create(&a, 0, work, data);
    pthread_create(&b, 0, work, data + 1);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
