//@ expect: race
//@ race: strand main
// A variable on the stack of a strand that its child writes too.
#include <pthread.h>

static void *work(void *shared) {
    *(int *)shared = 1; //~ strand
    return 0;
}

int main(void) {
    int shared = 0;
    pthread_t strand;
    pthread_create(&strand, 0, work, &shared);
    *(volatile int *)&shared = 2; //~ main
    pthread_join(strand, 0);
    return 0;
}
