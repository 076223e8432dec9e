//@ expect: deadlock
//@ max-runs: 1000
// A barrier of one's own that is reset by the last to leave: a fast strand comes back before that.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all_here = PTHREAD_COND_INITIALIZER;
static int arrived;

static void barrier_wait(int n) {
    pthread_mutex_lock(&lock);
    arrived++;
    if (arrived == n)
        pthread_cond_broadcast(&all_here);
    while (arrived < n)
        pthread_cond_wait(&all_here, &lock);
    pthread_mutex_unlock(&lock);

    pthread_mutex_lock(&lock);
    if (arrived >= n)
        arrived = 0;
    pthread_mutex_unlock(&lock);
}

static void *work(void *unused) {
    (void)unused;
    barrier_wait(2);
    barrier_wait(2);
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
