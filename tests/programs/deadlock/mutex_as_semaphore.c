//@ expect: pass
//@ warns: none
// A mutex that one strand takes and another gives back: its holder waits for it, and is not stuck.
#include <pthread.h>

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static volatile int sum;

static void *give(void *unused) {
    (void)unused;
    for (int i = 0; i < 300; i++)
        sum += i;
    pthread_mutex_unlock(&turn);
    return 0;
}

int main(void) {
    pthread_t strand;
    pthread_mutex_lock(&turn);
    pthread_create(&strand, 0, give, 0);
    pthread_mutex_lock(&turn);
    pthread_join(strand, 0);
    pthread_mutex_unlock(&turn);
    return 0;
}
