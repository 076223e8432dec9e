//@ expect: deadlock
//@ message: lost wake-up: strand 0.1 signalled `ready`
//@ preemptions: 1
//@ pair: signal here
// A wait without a condition: a signal that comes first is gone.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;

static void *tell(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    pthread_cond_signal(&ready); //~ signal
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, tell, 0);
    pthread_mutex_lock(&lock);
    pthread_cond_wait(&ready, &lock); //~ here
    pthread_mutex_unlock(&lock);
    pthread_join(strand, 0);
    return 0;
}
