//@ expect: assertion
//@ preemptions: 0
// Three stations pass a token on: the first adds one to the third's, the others copy the one before. A watcher that comes when all
// have done so expects equal tokens, but only one of the six orders gives that.
#include <assert.h>
#include <pthread.h>

#define STATIONS 3
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int token[STATIONS] = {1, 2, 1};
static int passed[STATIONS];

static void *pass(void *arg) {
    long station = (long)arg;
    pthread_mutex_lock(&lock);
    token[station] = station == 0 ? (token[STATIONS - 1] + 1) % 4 : token[station - 1];
    passed[station] = 1;
    pthread_mutex_unlock(&lock);
    return 0;
}

static void *watch(void *unused) {
    pthread_mutex_lock(&lock);
    if (passed[0] && passed[1] && passed[2])
        assert(token[0] == token[1] && token[1] == token[2]); //~ here
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t strands[STATIONS + 1];
    for (long i = 0; i < STATIONS; i++)
        pthread_create(&strands[i], 0, pass, (void *)i);
    pthread_create(&strands[STATIONS], 0, watch, 0);
    for (int i = 0; i <= STATIONS; i++)
        pthread_join(strands[i], 0);
    return 0;
}
