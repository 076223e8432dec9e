/* Memory of each strand's own: a product of matrices, and a sieve with bytes. Only the sums are under a lock. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 24, BYTES = 12000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;

static void *work(void *arg) {
    long seed = (long)arg, found = 0;
    double *a = malloc(SIDE * SIDE * sizeof *a), *b = malloc(SIDE * SIDE * sizeof *b);
    unsigned char *sieve = malloc(BYTES);
    double sum = 0;
    for (int i = 0; i < SIDE * SIDE; i++) {
        a[i] = (i * seed) % 7;
        b[i] = (i + seed) % 5;
    }
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++)
            for (int k = 0; k < SIDE; k++)
                sum += a[i * SIDE + k] * b[k * SIDE + j];
    memset(sieve, 1, BYTES);
    for (long i = 2; i * i < BYTES; i++)
        if (sieve[i])
            for (long j = i * i; j < BYTES; j += i)
                sieve[j] = 0;
    for (long i = 2; i < BYTES; i++)
        found += sieve[i];
    pthread_mutex_lock(&lock);
    total += (long)sum + found;
    pthread_mutex_unlock(&lock);
    free(a);
    free(b);
    free(sieve);
    return NULL;
}

int main(void) {
    pthread_t strands[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&strands[i], NULL, work, (void *)(i + 3));
    for (int i = 0; i < 2; i++)
        pthread_join(strands[i], NULL);
    return total == 0;
}
