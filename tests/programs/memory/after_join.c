//@ expect: use-after-free
// The worker frees its result before main, by then alone, has read it.
#include <pthread.h>
#include <stdlib.h>

static void *work(void *unused) {
    int *result = malloc(sizeof *result);
    (void)unused;
    *result = 42;
    free(result);
    return result;
}

int main(void) {
    pthread_t strand;
    void *result;
    pthread_create(&strand, 0, work, 0);
    pthread_join(strand, &result);
    return *(int *)result != 42; //~ here
}
