//@ expect: pass
// Both strands take the same mutex.
#include <pthread.h>

pthread_mutex_t mutexes[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
int total;

static void *work(void *arg) {
    pthread_mutex_t *mutex = arg;
    pthread_mutex_lock(mutex);
    total++;
    pthread_mutex_unlock(mutex);
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, &mutexes[0]);
    pthread_create(&b, 0, work, &mutexes[0]);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
