//@ expect: race
//@ race: strand main
// A strand's own variable that another strand got the address of.
#include <pthread.h>

__thread volatile int own;

static void *work(void *foreign) {
    *(volatile int *)foreign = 1; //~ strand
    return 0;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, work, (void *)&own);
    own = 2; //~ main
    pthread_join(strand, 0);
    return 0;
}
