//@ expect: use-after-destroy
//@ max-runs: 100
//@ bare: any
// A worker takes a lock that its owner may have destroyed already, and does not look at what the call gives.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void *work(void *unused) {
    pthread_mutex_lock(&lock); //~ here
    total++;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    pthread_mutex_lock(&lock);
    total++;
    pthread_mutex_unlock(&lock);
    pthread_mutex_destroy(&lock);
    pthread_join(strand, 0);
    return 0;
}
