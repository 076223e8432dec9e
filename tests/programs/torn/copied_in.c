//@ expect: assertion
// A strand copies a structure of its own, which nobody else touches, into one that others read: the write alone is shared, and a strand may be stopped before it.
#include <assert.h>
#include <pthread.h>
#include <sched.h>

struct config {
    long first, second, third;
};

static struct config shared = {1, 1, 1};

static void *worker(void *own) {
    for (int round = 0; round < 3; round++)
        shared = *(struct config *)own;
    return 0;
}

__attribute__((noinline)) static long look(void) {
    // Two looks are two looks.
    __asm__ volatile("" ::: "memory");
    return shared.first;
}

int main(void) {
    struct config own = {2, 2, 2};
    pthread_t strand;
    pthread_create(&strand, 0, worker, &own);
    sched_yield();
    long before = look();
    long after = look();
    assert(before == after);
    pthread_join(strand, 0);
    return 0;
}
