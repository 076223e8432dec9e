// Looks once, then takes a wake-up for the event.
//@ expect: assertion
//@ max-runs: 200
//@ bare: any
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ready, data;

static void *set(void *unused) {
    pthread_mutex_lock(&lock);
    data = 42;
    ready = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t setter;
    pthread_create(&setter, NULL, set, NULL);
    pthread_mutex_lock(&lock);
    if (!ready)
        pthread_cond_wait(&changed, &lock);
    assert(data == 42);
    pthread_mutex_unlock(&lock);
    pthread_join(setter, NULL);
    return 0;
}
