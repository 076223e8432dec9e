//@ expect: race
//@ race: fill use
// A wake is no hand-over: the mutex was not held when the data were written.
#include <pthread.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
int ready, data;
__thread volatile int seen;

static void *look(void *arg) {
    pthread_mutex_lock(&mutex);
    while (!ready)
        pthread_cond_wait(&changed, &mutex);
    seen = data; //~ use
    pthread_mutex_unlock(&mutex);
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, look, 0);
    pthread_create(&b, 0, look, 0);
    pthread_mutex_lock(&mutex);
    ready = 1;
    pthread_mutex_unlock(&mutex);
    data = 1; //~ fill
    pthread_cond_broadcast(&changed);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
