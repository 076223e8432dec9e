//@ expect: deadlock
// Cancelled in its first sleep, not in its last, with a lock held and no handler to free it.
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    usleep(100);
    pthread_mutex_unlock(&lock);
    for (;;)
        pause();
    return 0;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    usleep(50000);
    pthread_cancel(strand);
    pthread_join(strand, 0);
    pthread_mutex_lock(&lock); //~ here
    pthread_mutex_unlock(&lock);
    return 0;
}
