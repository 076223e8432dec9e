//@ expect: race
//@ race: bump bump
// The same counter without the annotation.
#include <pthread.h>
#include <stdlib.h>

void AnnotateBenignRaceSized(const char *, int, const volatile void *, size_t, const char *)
    __attribute__((weak));

int hits;

static void *work(void *arg) {
    hits++; //~ bump
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
