//@ expect: deadlock
//@ strategy: round-robin
//@ max-runs: 2
//@ message: lock cycle of 2 strands
//@ preemptions: 1
//@ pair: b-taken here
//@ pair: a-taken a-wanted
// Opposite orders, a long way apart: no run deadlocks by chance, the one that is directed to it does.
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static atomic_int work;

static void busy(void) {
    for (int i = 0; i < 2000; i++)
        atomic_fetch_add(&work, 1);
}

static void *early(void *unused) {
    (void)unused;
    pthread_mutex_lock(&a); //~ a-taken
    pthread_mutex_lock(&b); //~ here
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    busy();
    return 0;
}

static void *late(void *unused) {
    (void)unused;
    busy();
    pthread_mutex_lock(&b); //~ b-taken
    pthread_mutex_lock(&a); //~ a-wanted
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return 0;
}

int main(void) {
    pthread_t x, y;
    pthread_create(&x, 0, early, 0);
    pthread_create(&y, 0, late, 0);
    pthread_join(x, 0);
    pthread_join(y, 0);
    return 0;
}
