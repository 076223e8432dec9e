// A hundred thousand messages through a mailbox; whoever waits for one gives up after a second in all.
#include <assert.h>
#include <pthread.h>
#include <time.h>

#define MESSAGES 100000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int full, taken;

static void *send(void *unused) {
    for (int i = 0; i < MESSAGES; i++) {
        pthread_mutex_lock(&lock);
        while (full)
            pthread_cond_wait(&changed, &lock);
        full = 1;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void) {
    pthread_t sender;
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec++;
    pthread_create(&sender, NULL, send, NULL);
    while (taken < MESSAGES) {
        pthread_mutex_lock(&lock);
        while (!full)
            assert(pthread_cond_timedwait(&changed, &lock, &end) == 0);
        full = 0;
        taken++;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
    pthread_join(sender, NULL);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    assert(now.tv_sec <= end.tv_sec);
    return 0;
}
