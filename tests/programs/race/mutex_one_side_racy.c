//@ expect: race
//@ race: locked look
// The writer takes the mutex, the reader does not.
#include <pthread.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int x, seen;

static void *work(void *arg) {
    pthread_mutex_lock(&mutex);
    x = 1; //~ locked
    pthread_mutex_unlock(&mutex);
    return arg;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    seen = x; //~ look
    pthread_join(strand, 0);
    return 0;
}
