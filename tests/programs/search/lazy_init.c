//@ expect: assertion
//@ preemptions: 1
//@ pair: check set
//@ pair: use reset
// Two strands initialise on first use; what the second overwrites has been used already.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ready, uses;

static void initialise(void) {
    pthread_mutex_lock(&lock);
    uses = 0; //~ reset
    ready = 1; //~ set
    pthread_mutex_unlock(&lock);
}

static void *use(void *unused) {
    pthread_mutex_lock(&lock);
    int is_ready = ready; //~ check
    pthread_mutex_unlock(&lock);
    if (!is_ready)
        initialise();
    pthread_mutex_lock(&lock);
    uses++; //~ use
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t strands[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&strands[i], 0, use, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(strands[i], 0);
    assert(uses == 3); //~ here
    return 0;
}
