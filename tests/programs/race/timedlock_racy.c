//@ expect: race
//@ race: held anyway
// A timed lock that ran out of time gives no right to write.
#include <pthread.h>
#include <time.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int x;

static void *work(void *arg) {
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    pthread_mutex_timedlock(&mutex, &end);
    x = 2; //~ anyway
    return arg;
}

int main(void) {
    pthread_t strand;
    pthread_mutex_lock(&mutex);
    pthread_create(&strand, 0, work, 0);
    x = 1; //~ held
    pthread_join(strand, 0);
    pthread_mutex_unlock(&mutex);
    return 0;
}
