//@ expect: pass
// A gate that lets everybody through, with attributes set and objects destroyed.
#include <assert.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t lock;
static pthread_cond_t open_gate;
static int is_open, through;

static void *pass(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    while (!is_open)
        pthread_cond_wait(&open_gate, &lock);
    through++;
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_condattr_t attr;
    clockid_t clock;
    assert(pthread_condattr_init(&attr) == 0);
    assert(pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) == 0);
    assert(pthread_condattr_getclock(&attr, &clock) == 0 && clock == CLOCK_MONOTONIC);
    assert(pthread_cond_init(&open_gate, &attr) == 0);
    assert(pthread_condattr_destroy(&attr) == 0);
    assert(pthread_mutex_init(&lock, 0) == 0);
    pthread_t strands[4];
    for (int i = 0; i < 4; i++)
        assert(pthread_create(&strands[i], 0, pass, 0) == 0);
    pthread_mutex_lock(&lock);
    is_open = 1;
    pthread_cond_broadcast(&open_gate);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 4; i++)
        assert(pthread_join(strands[i], 0) == 0);
    assert(through == 4);
    assert(pthread_cond_destroy(&open_gate) == 0 && pthread_mutex_destroy(&lock) == 0);
    return 0;
}
