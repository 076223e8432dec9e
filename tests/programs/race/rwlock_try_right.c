//@ expect: pass
// A try for the write lock that succeeded is a lock.
#include <pthread.h>

pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
int x, seen;

static void *work(void *arg) {
    int failed = pthread_rwlock_trywrlock(&lock);
    if (failed)
        return arg;
    x = 2;
    if (!failed)
        pthread_rwlock_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t strand;
    pthread_rwlock_rdlock(&lock);
    pthread_create(&strand, 0, work, 0);
    seen = x;
    pthread_rwlock_unlock(&lock);
    pthread_join(strand, 0);
    return 0;
}
