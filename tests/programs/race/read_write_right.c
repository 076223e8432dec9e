//@ expect: pass
// Two strands read one variable; its writer came before both.
#include <pthread.h>

int x, seen, copy;

static void *work(void *arg) {
    seen = x;
    return arg;
}

int main(void) {
    pthread_t strand;
    x = 1;
    pthread_create(&strand, 0, work, 0);
    copy = x;
    pthread_join(strand, 0);
    return 0;
}
