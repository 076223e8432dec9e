//@ expect: deadlock
//@ message: lock cycle of 5 strands
//@ bare: any
// Five philosophers take the left fork first, all of them.
#include <pthread.h>

#define SEATS 5

static pthread_mutex_t forks[SEATS];
static int meals[SEATS];

static void *dine(void *number) {
    long seat = (long)number;
    for (int i = 0; i < 10; i++) {
        pthread_mutex_lock(&forks[seat]);
        pthread_mutex_lock(&forks[(seat + 1) % SEATS]);
        meals[seat]++;
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
