//@ expect: timeout
//@ timeout: 1s
// A loop that makes no call, touches no memory and never ends, in the order where its bound is read too early. It is on one
// line: where in it the time is over is chance.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int step;

static void *work(void *unused) {
    (void)unused;
    int by = atomic_load(&step);
    long value = 0;
    for (; value < 1000; value += by) __asm__ volatile("" : "+r"(value));
    return 0;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    atomic_store(&step, 1);
    pthread_join(strand, 0);
    return 0;
}
