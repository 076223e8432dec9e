//@ expect: deadlock
//@ preemptions: 0
//@ pair: taken wanted
// The joining strand holds the lock that the joined one still needs.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int done;

static void *work(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock); //~ wanted
    done = 1;
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    pthread_mutex_lock(&lock); //~ taken
    pthread_join(strand, 0); //~ here
    pthread_mutex_unlock(&lock);
    return 0;
}
