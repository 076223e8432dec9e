//@ expect: pass
// A comparison called by qsort; another strand writes behind the sorted part.
#include <pthread.h>
#include <stdlib.h>

int x[9] = {5, 3, 8, 1, 9, 2, 7, 4, 0};

static int compare(const void *a, const void *b) {
    int left = *(const int *)a;
    int right = *(const int *)b;
    return left - right;
}

static void *work(void *arg) {
    qsort(x, 8, sizeof *x, compare);
    return arg;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    x[8] = 6;
    pthread_join(strand, 0);
    return 0;
}
