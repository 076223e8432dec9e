//@ expect: pass
// A reader that finds the cache stale leaves before it comes again to write, and looks once more.
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int stale, value;

static void *spoil(void *unused) {
    (void)unused;
    pthread_rwlock_wrlock(&lock);
    stale = 1;
    pthread_rwlock_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, spoil, 0);
    pthread_rwlock_rdlock(&lock);
    int seen = stale;
    pthread_rwlock_unlock(&lock);
    if (seen) {
        pthread_rwlock_wrlock(&lock);
        if (stale)
            value++;
        pthread_rwlock_unlock(&lock);
    }
    pthread_join(strand, 0);
    return 0;
}
