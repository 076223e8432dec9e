// Two numbers, each changed under the lock by itself.
#include "strands.h"

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int data1 = 10, data2 = 10;

static void *up(void *unused) {
    pthread_mutex_lock(&lock);
    data1++;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    data2++;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *down(void *unused) {
    pthread_mutex_lock(&lock);
    data1 += 5;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    data2 -= 6;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    RUN(up, down);
    assert(data1 == 16 && data2 == 5);
}
