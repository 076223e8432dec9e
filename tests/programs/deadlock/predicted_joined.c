//@ expect: pass
//@ runs: 50
//@ warns: none
// Opposite orders by strands that are never there at the same time: the first is joined before the second is created.
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;

static void *forth(void *unused) {
    (void)unused;
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    return 0;
}

static void *back(void *unused) {
    (void)unused;
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return 0;
}

int main(void) {
    pthread_t strand;
    back(0);
    pthread_create(&strand, 0, forth, 0);
    pthread_join(strand, 0);
    pthread_create(&strand, 0, back, 0);
    pthread_join(strand, 0);
    forth(0);
    return 0;
}
