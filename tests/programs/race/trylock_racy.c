//@ expect: race
//@ race: held anyway
// A trylock that failed gives no right to write.
#include <pthread.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int x;

static void *work(void *arg) {
    pthread_mutex_trylock(&mutex);
    x = 2; //~ anyway
    return arg;
}

int main(void) {
    pthread_t strand;
    pthread_mutex_lock(&mutex);
    pthread_create(&strand, 0, work, 0);
    x = 1; //~ held
    pthread_join(strand, 0);
    pthread_mutex_unlock(&mutex);
    return 0;
}
