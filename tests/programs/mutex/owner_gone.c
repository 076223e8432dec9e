//@ expect: deadlock
// A strand leaves early with a plain mutex held, when it finds nothing to do.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int jobs;

static void *work(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    if (jobs == 0)
        return 0;
    jobs--;
    pthread_mutex_unlock(&lock);
    return 0;
}

static void *supply(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    jobs++;
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, supply, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
