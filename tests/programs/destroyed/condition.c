//@ expect: use-after-destroy
//@ max-runs: 100
//@ bare: any
// Whoever waited destroys the condition variable; the signal comes after the lock was given back.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static int done;

static void *work(void *unused) {
    pthread_mutex_lock(&lock);
    done = 1;
    pthread_mutex_unlock(&lock);
    pthread_cond_signal(&ready); //~ here
    return unused;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    pthread_mutex_lock(&lock);
    while (!done)
        pthread_cond_wait(&ready, &lock);
    pthread_mutex_unlock(&lock);
    pthread_cond_destroy(&ready);
    pthread_join(strand, 0);
    return 0;
}
