//@ expect: pass
//@ runs: 20
//@ classes: 6
// Three critical sections: whoever has to wait is of the same class as whoever comes later.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int number;

static void *enter(void *unused) {
    pthread_mutex_lock(&lock);
    number++;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t strands[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&strands[i], 0, enter, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(strands[i], 0);
    return number != 3;
}
