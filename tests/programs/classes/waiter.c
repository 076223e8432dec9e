//@ expect: pass
//@ runs: 20
//@ classes: 2
// A strand waits for a sign, or comes when it has been given.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t sign = PTHREAD_COND_INITIALIZER;
static int given;

static void *await(void *unused) {
    pthread_mutex_lock(&lock);
    while (!given)
        pthread_cond_wait(&sign, &lock);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, await, 0);
    pthread_mutex_lock(&lock);
    given = 1;
    pthread_cond_signal(&sign);
    pthread_mutex_unlock(&lock);
    pthread_join(strand, 0);
    return 0;
}
