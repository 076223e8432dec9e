//@ expect: pass
// Strands allocate, fill and free blocks; the same memory serves one after the other.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

int *_Atomic published;
volatile size_t length = 48;

static void *work(void *arg) {
    for (int i = 0; i < 20; i++) {
        int *block = malloc(length), *zeros = calloc(3, length);
        memset(block, 1, length);
        zeros[5] = 1;
        free(zeros);
        free(block);
    }
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    work(0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
