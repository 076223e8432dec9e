//@ expect: assertion
//@ max-runs: 100
// A mutex is destroyed that another strand still uses.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *uses(void *unused) {
    if (pthread_mutex_lock(&lock) == 0) pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, uses, 0);
    assert(pthread_mutex_destroy(&lock) == 0); //~ here
    pthread_join(strand, 0);
    return 0;
}
