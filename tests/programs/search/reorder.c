//@ expect: assertion
//@ strategy: rff
//@ args: 10
//@ max-runs: 300
//@ preemptions: 1
//@ pair: second check
//@ pair: first check
// n setters write two variables, each under its own section of one lock; the checker wants both or none.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int first, second;

static void *set(void *unused) {
    pthread_mutex_lock(&lock);
    first = 1; //~ first
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    second = -1; //~ second
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *check(void *unused) {
    pthread_mutex_lock(&lock);
    int one = first, two = second; //~ check
    pthread_mutex_unlock(&lock);
    assert((one == 0 && two == 0) || (one == 1 && two == -1)); //~ here
    return unused;
}

int main(int argc, char **argv) {
    int setters = argc > 1 ? atoi(argv[1]) : 3;
    pthread_t *strands = calloc(setters + 1, sizeof *strands);
    for (int i = 0; i < setters; i++)
        pthread_create(&strands[i], 0, set, 0);
    pthread_create(&strands[setters], 0, check, 0);
    for (int i = 0; i <= setters; i++)
        pthread_join(strands[i], 0);
    free(strands);
    return 0;
}
