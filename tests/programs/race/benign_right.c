//@ expect: pass
// A race that the program declares harmless.
#include <pthread.h>
#include <stdlib.h>

void AnnotateBenignRaceSized(const char *, int, const volatile void *, size_t, const char *)
    __attribute__((weak));

int hits;

static void *work(void *arg) {
    hits++;
    return arg;
}

int main(void) {
    if (AnnotateBenignRaceSized)
        AnnotateBenignRaceSized(__FILE__, __LINE__, &hits, sizeof hits, "statistics");
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
