//@ expect: deadlock
//@ message: lock cycle of 2 strands
//@ timeout: 60s
//@ preemptions: 2
//@ pair: b-taken here
//@ pair: a-taken a-wanted
// Two strands wait for each other while a third counts for ever: no end of the run is needed to see it.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static atomic_int left = 2;
static atomic_long beats;

static void *forth(void *unused) {
    (void)unused;
    pthread_mutex_lock(&a); //~ a-taken
    pthread_mutex_lock(&b); //~ here
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    atomic_fetch_sub(&left, 1);
    return 0;
}

static void *back(void *unused) {
    (void)unused;
    pthread_mutex_lock(&b); //~ b-taken
    pthread_mutex_lock(&a); //~ a-wanted
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    atomic_fetch_sub(&left, 1);
    return 0;
}

int main(void) {
    pthread_t x, y;
    pthread_create(&x, 0, forth, 0);
    pthread_create(&y, 0, back, 0);
    while (atomic_load(&left))
        atomic_fetch_add(&beats, 1);
    return 0;
}
