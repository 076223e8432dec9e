//@ expect: assertion
//@ preemptions: 1
//@ pair: value-set here
//@ pair: ready-set ready-seen
// Plain variables, each written by main alone and read by the other strand alone: both sides must become points.
#include <assert.h>
#include <pthread.h>

static int ready, value;

static void *use(void *unused) {
    (void)unused;
    if (*(volatile int *)&ready) //~ ready-seen
        assert(*(volatile int *)&value == 42); //~ here
    return 0;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, use, 0);
    *(volatile int *)&ready = 1; //~ ready-set
    *(volatile int *)&value = 42; //~ value-set
    pthread_join(strand, 0);
    return 0;
}
