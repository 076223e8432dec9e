//@ expect: deadlock
//@ message: goes on
// Main looks every second whether its strands are done; two of them never will be.
#include <pthread.h>
#include <time.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done = PTHREAD_COND_INITIALIZER;
static int left = 2;

static void finish(void) {
    pthread_mutex_lock(&lock);
    left--;
    pthread_cond_signal(&done);
    pthread_mutex_unlock(&lock);
}

static void *forth(void *unused) {
    (void)unused;
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b); //~ here
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    finish();
    return 0;
}

static void *back(void *unused) {
    (void)unused;
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    finish();
    return 0;
}

int main(void) {
    pthread_t x, y;
    pthread_create(&x, 0, forth, 0);
    pthread_create(&y, 0, back, 0);
    pthread_mutex_lock(&lock);
    while (left > 0) {
        struct timespec soon;
        clock_gettime(CLOCK_REALTIME, &soon);
        soon.tv_sec++;
        pthread_cond_timedwait(&done, &lock, &soon);
    }
    pthread_mutex_unlock(&lock);
    return 0;
}
