//@ expect: assertion
//@ preemptions: 1
//@ pair: check stop
//@ pair: stopped here
// A driver is stopped while an adder is between its check and its work: it works on a stopped driver.
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t idle = PTHREAD_COND_INITIALIZER;
static int pending = 1; /* requests under way, and one for the driver itself */
static int stopping, stopped, is_idle;

static int enter(void) {
    if (stopping) //~ check
        return -1;
    pthread_mutex_lock(&lock);
    pending++;
    pthread_mutex_unlock(&lock);
    return 0;
}

static void leave(void) {
    pthread_mutex_lock(&lock);
    if (--pending == 0) {
        is_idle = 1;
        pthread_cond_signal(&idle);
    }
    pthread_mutex_unlock(&lock);
}

static void *add(void *unused) {
    if (enter() == 0) {
        assert(!stopped); //~ here
        leave();
    }
    return unused;
}

static void *stop(void *unused) {
    stopping = 1; //~ stop
    leave();
    pthread_mutex_lock(&lock);
    while (!is_idle)
        pthread_cond_wait(&idle, &lock);
    pthread_mutex_unlock(&lock);
    stopped = 1; //~ stopped
    return unused;
}

int main(void) {
    pthread_t adder, stopper;
    pthread_create(&stopper, 0, stop, 0);
    pthread_create(&adder, 0, add, 0);
    pthread_join(adder, 0);
    pthread_join(stopper, 0);
    return 0;
}
