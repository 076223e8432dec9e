//@ expect: deadlock
//@ max-runs: 1500
//@ preemptions: 1
//@ pair: taken here
// Five philosophers, each takes the left fork first.
#include <pthread.h>

#define SEATS 5
static pthread_mutex_t forks[SEATS];

static void *dine(void *arg) {
    long seat = (long)arg;
    for (int meal = 0; meal < 2; meal++) {
        pthread_mutex_lock(&forks[seat]); //~ taken
        pthread_mutex_lock(&forks[(seat + 1) % SEATS]); //~ here
        pthread_mutex_unlock(&forks[(seat + 1) % SEATS]);
        pthread_mutex_unlock(&forks[seat]);
    }
    return 0;
}

int main(void) {
    pthread_t strands[SEATS];
    for (int i = 0; i < SEATS; i++)
        pthread_mutex_init(&forks[i], 0);
    for (long i = 0; i < SEATS; i++)
        pthread_create(&strands[i], 0, dine, (void *)i);
    for (int i = 0; i < SEATS; i++)
        pthread_join(strands[i], 0);
    return 0;
}
