//@ expect: assertion
// Four strands each copy the token of the one before, the first adds one to it; one round in order makes all tokens equal.
#include <assert.h>
#include <pthread.h>

#define STRANDS 4
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int token[STRANDS] = {1, 2, 1, 0};

static void *pass(void *arg) {
    long me = (long)arg;
    pthread_mutex_lock(&lock);
    token[me] = me == 0 ? (token[STRANDS - 1] + 3) % 4 : token[me - 1];
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t strands[STRANDS];
    /* The last one of the ring is created first. */
    for (long i = STRANDS - 1; i >= 0; i--)
        pthread_create(&strands[i], 0, pass, (void *)i);
    for (int i = 0; i < STRANDS; i++)
        pthread_join(strands[i], 0);
    int equal = 1;
    for (int i = 1; i < STRANDS; i++)
        equal = equal && token[i] == token[0];
    assert(!equal); //~ here
    return 0;
}
