//@ expect: pass
// Two strands write one variable, the second after it joined the first.
#include <pthread.h>

int x;

static void *work(void *arg) {
    x = 1;
    return arg;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    pthread_join(strand, 0);
    x = 2;
    return 0;
}
