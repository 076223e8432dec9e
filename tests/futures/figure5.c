/* Figure 5 of the paper: a barrier of two of three strands keeps the initial value out, and not the zero. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static int n = 1;

static void *first(void *arg) {
#ifdef SLEEP_FIRST
    usleep(10000);
#endif
    pthread_mutex_lock(&lock);
    n = 0; //~ zero
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *second(void *arg) {
    pthread_mutex_lock(&lock);
#ifndef SLEEP_FIRST
    usleep(10000);
#endif
    n = 3; //~ three
    pthread_mutex_unlock(&lock);
    pthread_barrier_wait(&both);
    return arg;
}

static void *third(void *arg) {
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&lock);
    int seen = n; //~ read
    pthread_mutex_unlock(&lock);
    printf("%d\n", 21 / seen);
    return arg;
}

int main(void) {
    void *(*const bodies[])(void *) = {first, second, third};
    pthread_t strands[3];
    pthread_barrier_init(&both, NULL, 2);
    for (int i = 0; i < 3; i++)
        pthread_create(&strands[i], NULL, bodies[i], NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(strands[i], NULL);
    return 0;
}
