//@ expect: deadlock
//@ max-runs: 3
//@ message: waits for the lock it holds itself
//@ bare: hang
// A strand waits for its own lock while main turns in its loop for ever.
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    pthread_mutex_lock(&lock); //~ here
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    for (;;)
        usleep(100);
}
