//@ expect: deadlock
//@ max-runs: 20
//@ message: waits for a lock whose holder has ended
//@ bare: hang
// A strand returns with the lock held; another waits for it for ever, while main goes on with its own work.
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *forget(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    return 0;
}

static void *wait(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock); //~ here
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, forget, 0);
    pthread_join(a, 0);
    pthread_create(&b, 0, wait, 0);
    for (;;)
        usleep(100);
}
