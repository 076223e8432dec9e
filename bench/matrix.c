// CPU-bound, little sharing: each strand multiplies matrices of its own; a sum is under a lock.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#define N 220
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;
static void *work(void *arg) {
    long seed = (long)arg;
    double *a = malloc(N*N*8), *b = malloc(N*N*8), *c = malloc(N*N*8);
    for (int i = 0; i < N*N; i++) { a[i] = (i*seed)%7; b[i] = (i+seed)%5; c[i]=0; }
    for (int r = 0; r < 3; r++) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < N; k++) s += a[i*N+k]*b[k*N+j];
            c[i*N+j] += s;
        }
        pthread_mutex_lock(&lock); total += (long)c[5]; pthread_mutex_unlock(&lock);
    }
    free(a); free(b); free(c);
    return 0;
}
int main(void) {
    pthread_t t[2];
    for (long i = 0; i < 2; i++) pthread_create(&t[i],0,work,(void*)(i+3));
    for (int i = 0; i < 2; i++) pthread_join(t[i],0);
    printf("%ld\n", total);
    return 0;
}
