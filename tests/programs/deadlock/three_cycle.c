//@ expect: deadlock
//@ max-runs: 1500
//@ message: lock cycle of 3 strands
//@ preemptions: 1
//@ pair: taken here
// Three locks in a circle: each strand has one and wants the next.
#include <pthread.h>

static pthread_mutex_t locks[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int served;

static void *serve(void *arg) {
    long own = (long)arg;
    pthread_mutex_lock(&locks[own]); //~ taken
    pthread_mutex_lock(&locks[(own + 1) % 3]); //~ here
    served++;
    pthread_mutex_unlock(&locks[(own + 1) % 3]);
    pthread_mutex_unlock(&locks[own]);
    return 0;
}

int main(void) {
    pthread_t strands[3];
    for (long i = 0; i < 3; i++)
        pthread_create(&strands[i], 0, serve, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(strands[i], 0);
    return 0;
}
