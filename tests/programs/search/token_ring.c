//@ expect: assertion
//@ preemptions: 0
// Three strands copy the token of the one before, the first adds one to it; a round in order makes all tokens equal, and
// the ring has lost its place.
#include <assert.h>
#include <pthread.h>

#define STRANDS 3
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int token[STRANDS] = {1, 2, 1};

static void *first(void *unused) {
    pthread_mutex_lock(&lock);
    token[0] = (token[2] + 1) % 4;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *second(void *unused) {
    pthread_mutex_lock(&lock);
    token[1] = token[0];
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *third(void *unused) {
    pthread_mutex_lock(&lock);
    token[2] = token[1];
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    void *(*const work[STRANDS])(void *) = {third, first, second};
    pthread_t strands[STRANDS];
    for (int i = 0; i < STRANDS; i++)
        pthread_create(&strands[i], 0, work[i], 0);
    for (int i = 0; i < STRANDS; i++)
        pthread_join(strands[i], 0);
    assert(token[0] != token[1] || token[1] != token[2]); //~ here
    return 0;
}
