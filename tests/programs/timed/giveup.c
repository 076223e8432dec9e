//@ expect: assertion
//@ max-runs: 3000
//@ preemptions: 1
//@ pair: look write
// After a timeout the strand goes on without the lock.
#include <assert.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int shared;

static void *update(void *unused) {
    (void)unused;
    struct timespec deadline;
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += 2;
    int locked = pthread_mutex_timedlock(&lock, &deadline) == 0;
    int seen = shared; //~ look
    shared = seen + 1; //~ write
    if (locked)
        pthread_mutex_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t a, b, c;
    pthread_create(&a, 0, update, 0);
    pthread_create(&b, 0, update, 0);
    pthread_create(&c, 0, update, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    pthread_join(c, 0);
    assert(shared == 3); //~ here
    return 0;
}
