//@ expect: pass
// Two strands try a lock, and yield while somebody else has it.
#include <pthread.h>
#include <sched.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *holder(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    counter++;
    pthread_mutex_unlock(&lock);
    return 0;
}

static void *trier(void *unused) {
    (void)unused;
    while (pthread_mutex_trylock(&lock) != 0) sched_yield();
    counter++;
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t strands[3];
    pthread_create(&strands[0], 0, holder, 0);
    pthread_create(&strands[1], 0, trier, 0);
    pthread_create(&strands[2], 0, trier, 0);
    for (int i = 0; i < 3; i++) pthread_join(strands[i], 0);
    return counter != 3;
}
