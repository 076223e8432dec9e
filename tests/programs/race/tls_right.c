//@ expect: pass
// Every strand has its own variable of that name.
#include <pthread.h>

__thread volatile int own;

static void *work(void *foreign) {
    (void)foreign;
    own = 1;
    return 0;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, work, (void *)&own);
    own = 2;
    pthread_join(strand, 0);
    return 0;
}
