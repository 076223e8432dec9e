//@ expect: deadlock
//@ message: cycle of 2 strands
//@ preemptions: 1
//@ pair: once-begun once-wanted
//@ pair: lock-taken here
// The initialisation wants the lock; the lock's holder wants the initialisation.
#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread int has_lock;
static int table;

static void make(void) {
    if (!has_lock)
        pthread_mutex_lock(&lock); //~ here
    table = 1;
    if (!has_lock)
        pthread_mutex_unlock(&lock);
}

static void *use(void *unused) {
    (void)unused;
    pthread_once(&once, make); //~ once-begun
    return 0;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, use, 0);
    pthread_mutex_lock(&lock); //~ lock-taken
    has_lock = 1;
    pthread_once(&once, make); //~ once-wanted
    pthread_mutex_unlock(&lock);
    pthread_join(strand, 0);
    return table != 1;
}
