//@ expect: assertion
// Plain variables, each written by main alone and read by the other strand alone: both sides must become points.
#include <assert.h>
#include <pthread.h>

static int ready, value;

static void *use(void *unused) {
    (void)unused;
    if (*(volatile int *)&ready)
        assert(*(volatile int *)&value == 42); //~ here
    return 0;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, use, 0);
    *(volatile int *)&ready = 1;
    *(volatile int *)&value = 42;
    pthread_join(strand, 0);
    return 0;
}
