//@ expect: pass
// A strand joins another that waits for its lock: a cycle, until main cancels the one that joins.
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t worker;

static void leave(void *unused) {
    (void)unused;
    pthread_mutex_unlock(&lock);
}

static void *work(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return 0;
}

static void *guard(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    pthread_cleanup_push(leave, 0);
    pthread_create(&worker, 0, work, 0);
    pthread_join(worker, 0);
    pthread_cleanup_pop(1);
    return 0;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, guard, 0);
    for (int i = 0; i < 100; i++)
        usleep(100);
    pthread_cancel(strand);
    pthread_join(strand, 0);
    return 0;
}
