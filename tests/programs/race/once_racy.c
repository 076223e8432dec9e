//@ expect: race
//@ race: set look
//@ may-race: fill use
//@ may-race: set set
//@ may-race: fill fill
// A plain flag in place of pthread_once.
#include <pthread.h>

int done;
int data;
__thread volatile int seen;

static void fill(void) {
    data = 1; //~ fill
    done = 1; //~ set
}

static void *work(void *arg) {
    if (!done) //~ look
        fill();
    seen = data; //~ use
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
