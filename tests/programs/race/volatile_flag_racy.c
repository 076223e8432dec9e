//@ expect: race
//@ race: set look
//@ race: fill use
// A volatile flag orders nothing: both the flag and what it guards race.
#include <pthread.h>
#include <sched.h>

volatile int ready;
int data, seen;

static void *work(void *arg) {
    data = 1; //~ fill
    ready = 1; //~ set
    return arg;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    while (!ready) //~ look
        sched_yield();
    seen = data; //~ use
    pthread_join(strand, 0);
    return 0;
}
