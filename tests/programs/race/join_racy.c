//@ expect: race
//@ race: fill use
// The strand has surely ended by now, but nobody joined it.
#include <pthread.h>
#include <unistd.h>

int data, seen;

static void *work(void *arg) {
    data = 1; //~ fill
    return arg;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    usleep(20000);
    seen = data; //~ use
    pthread_join(strand, 0);
    return 0;
}
