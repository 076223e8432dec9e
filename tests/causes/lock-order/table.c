// Three philosophers.
//@ expect: deadlock
//@ pair: left right
//@ pattern: lock-order-cycle
//@ object: forks[0]|forks[1]|forks[2]
#include <pthread.h>

static pthread_mutex_t forks[3] = {
    PTHREAD_MUTEX_INITIALIZER,
    PTHREAD_MUTEX_INITIALIZER,
    PTHREAD_MUTEX_INITIALIZER,
};
static int meals[3];

static void *eat(void *arg) {
    long seat = (long)arg;
    pthread_mutex_lock(&forks[seat]); //~ left
    pthread_mutex_lock(&forks[(seat + 1) % 3]); //~ right
    meals[seat]++;
    pthread_mutex_unlock(&forks[(seat + 1) % 3]);
    pthread_mutex_unlock(&forks[seat]);
    return 0;
}

int main(void) {
    pthread_t t[3];
    for (long i = 0; i < 3; i++) pthread_create(&t[i], 0, eat, (void *)i);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    return 0;
}
