// CPU-bound, little sharing: each strand has a sieve of its own; the count is an atomic.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdatomic.h>
static atomic_long found;
static unsigned hash(const unsigned char *p, int n){unsigned h=2166136261u;for(int i=0;i<n;i++){h^=p[i];h*=16777619u;}return h;}
static void *work(void *arg) {
    long lo = (long)arg * 100000;
    unsigned char *s = malloc(2000000);
    for (int r = 0; r < 2; r++) {
    memset(s, 1, 2000000);
    for (long i = 2; i*i < 2000000; i++) if (s[i]) for (long j = i*i; j < 2000000; j += i) s[j] = 0;
    long n = 0; for (long i = 2; i < 2000000; i++) n += s[i];
    atomic_fetch_add(&found, n + lo + (hash(s, 2000000)&1));
    }
    free(s);
    return 0;
}
int main(void) {
    pthread_t t[2];
    for (long i = 0; i < 2; i++) pthread_create(&t[i],0,work,(void*)i);
    for (int i = 0; i < 2; i++) pthread_join(t[i],0);
    printf("%ld\n", (long)found);
    return 0;
}
