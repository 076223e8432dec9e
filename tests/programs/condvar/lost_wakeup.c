//@ expect: deadlock
//@ preemptions: 1
//@ pair: signal here
//@ pair: set check
// The flag is checked before the lock is taken: the signal may fall between.
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static atomic_int flag;

static void *set(void *unused) {
    (void)unused;
    atomic_store(&flag, 1); //~ set
    pthread_mutex_lock(&lock);
    pthread_cond_signal(&ready); //~ signal
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t setter;
    pthread_create(&setter, 0, set, 0);
    if (!atomic_load(&flag)) { //~ check
        pthread_mutex_lock(&lock);
        pthread_cond_wait(&ready, &lock); //~ here
        pthread_mutex_unlock(&lock);
    }
    pthread_join(setter, 0);
    return 0;
}
