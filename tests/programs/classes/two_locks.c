//@ expect: pass
//@ runs: 20
//@ classes: 3
// Two strands take two locks one after the other, in opposite orders: of the four orders one is a circle.
#include <pthread.h>

static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

static void *enter(void *first) {
    long at = (long)first;
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&locks[(at + i) % 2]);
        pthread_mutex_unlock(&locks[(at + i) % 2]);
    }
    return 0;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, enter, (void *)0);
    pthread_create(&two, 0, enter, (void *)1);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
