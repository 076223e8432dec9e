//@ expect: deadlock
//@ preemptions: 1
//@ pair: taken here
// Three strands, three locks, each takes its own and the next one's, after a little work of its own.
#include <pthread.h>

#define STRANDS 3
static pthread_mutex_t locks[STRANDS] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static int entries;

static void note(void) {
    pthread_mutex_lock(&log_lock);
    entries++;
    pthread_mutex_unlock(&log_lock);
}

static void *work(void *arg) {
    long me = (long)arg;
    note();
    pthread_mutex_lock(&locks[me]); //~ taken
    pthread_mutex_lock(&locks[(me + 1) % STRANDS]); //~ here
    note();
    pthread_mutex_unlock(&locks[(me + 1) % STRANDS]);
    pthread_mutex_unlock(&locks[me]);
    return 0;
}

int main(void) {
    pthread_t strands[STRANDS];
    for (long i = 0; i < STRANDS; i++)
        pthread_create(&strands[i], 0, work, (void *)i);
    for (int i = 0; i < STRANDS; i++)
        pthread_join(strands[i], 0);
    return 0;
}
