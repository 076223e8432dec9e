//@ expect: pass
// The worker's result is freed by main after it has been read.
#include <pthread.h>
#include <stdlib.h>

static void *work(void *unused) {
    int *result = malloc(sizeof *result);
    (void)unused;
    *result = 42;
    return result;
}

int main(void) {
    pthread_t strand;
    void *result;
    pthread_create(&strand, 0, work, 0);
    pthread_join(strand, &result);
    int wrong = *(int *)result != 42;
    free(result);
    return wrong;
}
