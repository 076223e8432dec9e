//@ expect: deadlock
//@ strategy: rff
//@ args: 7
//@ max-runs: 200
//@ preemptions: 1
//@ pair: taken here
// n philosophers, each takes the left fork first.
#include <pthread.h>
#include <stdlib.h>

#define MOST 16
static int seats;
static pthread_mutex_t forks[MOST];

static void *dine(void *arg) {
    long seat = (long)arg;
    pthread_mutex_lock(&forks[seat]); //~ taken
    pthread_mutex_lock(&forks[(seat + 1) % seats]); //~ here
    pthread_mutex_unlock(&forks[(seat + 1) % seats]);
    pthread_mutex_unlock(&forks[seat]);
    return 0;
}

int main(int argc, char **argv) {
    pthread_t strands[MOST];
    seats = argc > 1 ? atoi(argv[1]) : 5;
    for (int i = 0; i < seats; i++)
        pthread_mutex_init(&forks[i], 0);
    for (long i = 0; i < seats; i++)
        pthread_create(&strands[i], 0, dine, (void *)i);
    for (int i = 0; i < seats; i++)
        pthread_join(strands[i], 0);
    return 0;
}
