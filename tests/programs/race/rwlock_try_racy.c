//@ expect: race
//@ race: held anyway
// A try for the write lock that failed gives no right to write.
#include <pthread.h>

pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
int x, seen;

static void *work(void *arg) {
    int failed = pthread_rwlock_trywrlock(&lock);
    x = 2; //~ anyway
    if (!failed)
        pthread_rwlock_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t strand;
    pthread_rwlock_rdlock(&lock);
    pthread_create(&strand, 0, work, 0);
    seen = x; //~ held
    pthread_join(strand, 0);
    pthread_rwlock_unlock(&lock);
    return 0;
}
