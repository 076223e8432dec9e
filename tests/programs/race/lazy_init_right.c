//@ expect: pass
// Double-checked initialisation with an atomic pointer.
#include <pthread.h>
#include <stdatomic.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int *_Atomic instance;
int made;
__thread volatile int seen;

static void *work(void *arg) {
    if (!instance) {
        pthread_mutex_lock(&mutex);
        if (!instance) {
            made = 1;
            instance = &made;
        }
        pthread_mutex_unlock(&mutex);
    }
    seen = *instance;
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
