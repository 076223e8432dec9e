//@ expect: pass
//@ warns: none
// Three locks in a circle, but each strand takes the lower one of its two first.
#include <pthread.h>

static pthread_mutex_t locks[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

static void *serve(void *arg) {
    long own = (long)arg, next = (own + 1) % 3;
    pthread_mutex_lock(&locks[own < next ? own : next]);
    pthread_mutex_lock(&locks[own < next ? next : own]);
    pthread_mutex_unlock(&locks[own]);
    pthread_mutex_unlock(&locks[next]);
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
