/* A lock of each strand's own, which nobody waits for, and one that two strands hand to each other. */
#include <pthread.h>

enum { ROUNDS = 4000 };

static pthread_mutex_t own[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t both = PTHREAD_MUTEX_INITIALIZER;
static long sums[2], sum;

static void *add(void *arg) {
    long me = (long)arg;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&own[me]);
        sums[me]++;
        pthread_mutex_unlock(&own[me]);
        pthread_mutex_lock(&both);
        sum++;
        pthread_mutex_unlock(&both);
    }
    return NULL;
}

int main(void) {
    pthread_t strands[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&strands[i], NULL, add, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(strands[i], NULL);
    return sum != 2 * ROUNDS;
}
