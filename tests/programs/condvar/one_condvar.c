//@ expect: deadlock
//@ max-runs: 2000
//@ preemptions: 0
// A bounded buffer with one condition variable for both sides: the signal wakes a strand of the wrong side.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int full;

static void *put(void *unused) {
    (void)unused;
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        while (full)
            pthread_cond_wait(&changed, &lock);
        full = 1;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

static void *get(void *unused) {
    (void)unused;
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        while (!full)
            pthread_cond_wait(&changed, &lock);
        full = 0;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

int main(void) {
    pthread_t strands[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&strands[i], 0, i < 2 ? get : put, 0);
    for (int i = 0; i < 4; i++)
        pthread_join(strands[i], 0);
    return 0;
}
