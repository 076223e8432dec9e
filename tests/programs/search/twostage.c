//@ expect: assertion
//@ strategy: rff
//@ args: 20
//@ max-runs: 300
//@ preemptions: 1
//@ pair: sum read
// n writers publish in two stages, each with its own lock; the reader trusts the second stage once it saw the first.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock_raw = PTHREAD_MUTEX_INITIALIZER, lock_sum = PTHREAD_MUTEX_INITIALIZER;
static int raw, sum;

static void *publish(void *unused) {
    pthread_mutex_lock(&lock_raw);
    raw = 1;
    pthread_mutex_unlock(&lock_raw);
    pthread_mutex_lock(&lock_sum);
    sum = raw + 1; //~ sum
    pthread_mutex_unlock(&lock_sum);
    return unused;
}

static void *consume(void *unused) {
    pthread_mutex_lock(&lock_raw);
    int seen = raw;
    pthread_mutex_unlock(&lock_raw);
    if (seen == 0)
        return unused;
    pthread_mutex_lock(&lock_sum);
    int total = sum; //~ read
    pthread_mutex_unlock(&lock_sum);
    assert(total == seen + 1); //~ here
    return unused;
}

int main(int argc, char **argv) {
    int writers = argc > 1 ? atoi(argv[1]) : 20;
    pthread_t *strands = calloc(writers + 1, sizeof *strands);
    for (int i = 0; i < writers; i++)
        pthread_create(&strands[i], 0, publish, 0);
    pthread_create(&strands[writers], 0, consume, 0);
    for (int i = 0; i <= writers; i++)
        pthread_join(strands[i], 0);
    free(strands);
    return 0;
}
