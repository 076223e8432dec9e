// A worker that goes by a limit which may not have been set yet, each under the lock that the other needs.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int limit;

static void *worker(void *arg) {
    pthread_mutex_lock(&lock);
    int used = limit; //~ second
    pthread_mutex_unlock(&lock);
    assert(used == 64);
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
    pthread_mutex_lock(&lock);
    limit = 64; //~ first
    pthread_mutex_unlock(&lock);
    pthread_join(thread, 0);
    return 0;
}
