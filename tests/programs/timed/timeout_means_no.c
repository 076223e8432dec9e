//@ expect: assertion
//@ max-runs: 3000
// The waiter takes ETIMEDOUT to mean "not ready"; readiness may come while it waits for the lock again.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int ready;

static void *set(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_mutex_unlock(&lock);
    pthread_cond_signal(&cond);
    return 0;
}

int main(void) {
    pthread_t setter;
    struct timespec deadline;
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += 5;
    pthread_create(&setter, 0, set, 0);
    pthread_mutex_lock(&lock);
    while (!ready)
        if (pthread_cond_timedwait(&cond, &lock, &deadline) == ETIMEDOUT) {
            assert(!ready); //~ here
            break;
        }
    pthread_mutex_unlock(&lock);
    pthread_join(setter, 0);
    return 0;
}
