//@ expect: pass
// A timed lock that succeeded is a lock.
#include <pthread.h>
#include <time.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int x;

static void *work(void *arg) {
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    if (pthread_mutex_timedlock(&mutex, &end) == 0) {
        x = 2;
        pthread_mutex_unlock(&mutex);
    }
    return arg;
}

int main(void) {
    pthread_t strand;
    pthread_mutex_lock(&mutex);
    pthread_create(&strand, 0, work, 0);
    x = 1;
    pthread_mutex_unlock(&mutex);
    pthread_join(strand, 0);
    return 0;
}
