//@ expect: race
//@ race: set look
//@ may-race: fill use
//@ may-race: set use
// Double-checked initialisation with a plain pointer.
#include <pthread.h>
#include <stdatomic.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int *instance;
int made;
__thread volatile int seen;

static void *work(void *arg) {
    if (!instance) { //~ look
        pthread_mutex_lock(&mutex);
        if (!instance) {
            made = 1; //~ fill
            instance = &made; //~ set
        }
        pthread_mutex_unlock(&mutex);
    }
    seen = *instance; //~ use
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
