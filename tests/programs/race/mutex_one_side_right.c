//@ expect: pass
// Writer and reader take the mutex.
#include <pthread.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int x, seen;

static void *work(void *arg) {
    pthread_mutex_lock(&mutex);
    x = 1;
    pthread_mutex_unlock(&mutex);
    return arg;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    pthread_mutex_lock(&mutex);
    seen = x;
    pthread_mutex_unlock(&mutex);
    pthread_join(strand, 0);
    return 0;
}
