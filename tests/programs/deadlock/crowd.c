//@ expect: deadlock
//@ max-runs: 50
//@ bare: any
// The one strand of forty that ends without giving the lock back leaves all others before it.
#include <pthread.h>
#include <stddef.h>

enum { STRANDS = 40 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int made;

static void *work(void *argument) {
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&lock);
        made++;
        if (made == 3 && argument != NULL)
            return NULL;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void) {
    pthread_t strands[STRANDS];
    for (int i = 0; i < STRANDS; i++)
        pthread_create(&strands[i], NULL, work, i % 2 ? &strands[i] : NULL);
    for (int i = 0; i < STRANDS; i++)
        pthread_join(strands[i], NULL);
    return 0;
}
