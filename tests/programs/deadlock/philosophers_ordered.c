//@ expect: pass
// The last philosopher takes the forks in the other order, so no cycle can close.
#include <assert.h>
#include <pthread.h>

#define SEATS 5
static pthread_mutex_t forks[SEATS];
static int meals[SEATS];

static void *dine(void *arg) {
    long seat = (long)arg, next = (seat + 1) % SEATS;
    long first = seat < next ? seat : next, second = seat < next ? next : seat;
    pthread_mutex_lock(&forks[first]);
    pthread_mutex_lock(&forks[second]);
    meals[seat]++;
    pthread_mutex_unlock(&forks[second]);
    pthread_mutex_unlock(&forks[first]);
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
    for (int i = 0; i < SEATS; i++)
        assert(meals[i] == 1 && pthread_mutex_destroy(&forks[i]) == 0);
    return 0;
}
