//@ expect: deadlock
//@ message: waits for the lock it holds itself
//@ preemptions: 1
//@ pair: spoil check
// A reader that finds the cache stale takes the lock for writing, too: it waits for itself to leave.
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int stale, value;

static void *spoil(void *unused) {
    (void)unused;
    pthread_rwlock_wrlock(&lock);
    stale = 1; //~ spoil
    pthread_rwlock_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, spoil, 0);
    pthread_rwlock_rdlock(&lock);
    if (stale) { //~ check
        pthread_rwlock_wrlock(&lock); //~ here
        value++;
        pthread_rwlock_unlock(&lock);
    }
    pthread_rwlock_unlock(&lock);
    pthread_join(strand, 0);
    return 0;
}
