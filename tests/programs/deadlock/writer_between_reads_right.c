//@ expect: pass
// The same with a lock that prefers readers: who reads may read again.
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int value;

static void *write_it(void *unused) {
    (void)unused;
    pthread_rwlock_wrlock(&lock);
    value++;
    pthread_rwlock_unlock(&lock);
    return 0;
}

static int read_it(void) {
    pthread_rwlock_rdlock(&lock);
    int seen = value;
    pthread_rwlock_unlock(&lock);
    return seen;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, write_it, 0);
    pthread_rwlock_rdlock(&lock);
    int both = value + read_it();
    pthread_rwlock_unlock(&lock);
    pthread_join(strand, 0);
    return both > 2;
}
