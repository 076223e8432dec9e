//@ expect: pass
// Strands that create strands, three deep, with results passed up by return and by pthread_exit.
#include <assert.h>
#include <pthread.h>

static void *node(void *arg) {
    long depth = (long)arg;
    if (depth == 0)
        pthread_exit((void *)1);
    pthread_t left, right;
    void *a, *b;
    assert(pthread_create(&left, 0, node, (void *)(depth - 1)) == 0);
    assert(pthread_create(&right, 0, node, (void *)(depth - 1)) == 0);
    assert(pthread_join(left, &a) == 0 && pthread_join(right, &b) == 0);
    return (void *)((long)a + (long)b);
}

int main(void) {
    assert((long)node((void *)3) == 8);
    return 0;
}
