// A producer and a consumer with two condition variables.
#include "strands.h"

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t empty = PTHREAD_COND_INITIALIZER, full = PTHREAD_COND_INITIALIZER;
int num = 1;

static void *produce(void *unused) {
    pthread_mutex_lock(&lock);
    while (num > 0)
        pthread_cond_wait(&empty, &lock);
    num++;
    pthread_mutex_unlock(&lock);
    pthread_cond_signal(&full);
    return unused;
}

static void *consume(void *unused) {
    pthread_mutex_lock(&lock);
    while (num == 0)
        pthread_cond_wait(&full, &lock);
    num--;
    pthread_mutex_unlock(&lock);
    pthread_cond_signal(&empty);
    return unused;
}

int main(void) {
    RUN(produce, consume);
    assert(num == 1);
}
