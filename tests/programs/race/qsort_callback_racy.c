//@ expect: race
//@ race: left write
//@ may-race: right write
//@ tsan: no
// A comparison called by qsort reads what another strand writes. (In some runs ThreadSanitizer tells what qsort itself writes instead: that is
// libc's own code, which is out of sight here.)
#include <pthread.h>
#include <stdlib.h>

int x[9] = {5, 3, 8, 1, 9, 2, 7, 4, 0};

static int compare(const void *a, const void *b) {
    int left = *(const int *)a; //~ left
    int right = *(const int *)b; //~ right
    return left - right;
}

static void *work(void *arg) {
    qsort(x, 8, sizeof *x, compare);
    return arg;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    x[0] = 6; //~ write
    pthread_join(strand, 0);
    return 0;
}
