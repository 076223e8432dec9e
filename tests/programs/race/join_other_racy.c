//@ expect: race
//@ race: fill use
// The join of one strand says nothing of another.
#include <pthread.h>

int data, seen;
pthread_t first;

static void *fill(void *arg) {
    data = 1; //~ fill
    return arg;
}

static void *wait_for_it(void *arg) {
    return arg;
}

int main(void) {
    pthread_t second;
    pthread_create(&first, 0, fill, 0);
    pthread_create(&second, 0, wait_for_it, 0);
    pthread_join(second, 0);
    seen = data; //~ use
    pthread_join(first, 0);
    return 0;
}
