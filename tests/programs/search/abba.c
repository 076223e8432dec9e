//@ expect: deadlock
//@ preemptions: 1
//@ pair: one-taken one-wanted
//@ pair: two-taken here
// Two strands take two locks in opposite order.
#include <pthread.h>

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, two = PTHREAD_MUTEX_INITIALIZER;
static int moved;

static void *forth(void *unused) {
    pthread_mutex_lock(&one); //~ one-taken
    pthread_mutex_lock(&two); //~ here
    moved++;
    pthread_mutex_unlock(&two);
    pthread_mutex_unlock(&one);
    return unused;
}

static void *back(void *unused) {
    pthread_mutex_lock(&two); //~ two-taken
    pthread_mutex_lock(&one); //~ one-wanted
    moved--;
    pthread_mutex_unlock(&one);
    pthread_mutex_unlock(&two);
    return unused;
}

int main(void) {
    pthread_t strands[2];
    pthread_create(&strands[0], 0, forth, 0);
    pthread_create(&strands[1], 0, back, 0);
    pthread_join(strands[0], 0);
    pthread_join(strands[1], 0);
    return 0;
}
