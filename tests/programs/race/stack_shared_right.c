//@ expect: pass
// A variable on the stack of a strand that its child writes and hands back.
#include <pthread.h>

static void *work(void *shared) {
    *(int *)shared = 1;
    return 0;
}

int main(void) {
    int shared = 0;
    pthread_t strand;
    pthread_create(&strand, 0, work, &shared);
    pthread_join(strand, 0);
    *(volatile int *)&shared = 2;
    return 0;
}
