//@ expect: pass
// A write under a lock taken for writing; two readers under locks taken for reading.
#include <pthread.h>

pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
int x;
__thread volatile int seen;

static void *look(void *arg) {
    pthread_rwlock_rdlock(&lock);
    seen = x;
    pthread_rwlock_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, look, 0);
    pthread_create(&b, 0, look, 0);
    pthread_rwlock_wrlock(&lock);
    x = 1;
    pthread_rwlock_unlock(&lock);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
