//@ expect: crash
//@ message: stack overflow
//@ flags: -O0
// A recursion without end, in the order where the limit is read before it is set.
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static atomic_int limit;

static int descend(int depth, int bound) {
    volatile char frame[512];
    memset((char *)frame, depth, sizeof frame);
    if (bound != 0 && depth >= bound)
        return frame[0];
    return descend(depth + 1, bound) + frame[511];
}

static void *work(void *unused) {
    (void)unused;
    return (void *)(long)descend(1, atomic_load(&limit));
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    atomic_store(&limit, 10);
    pthread_join(strand, 0);
    return 0;
}
