//@ expect: assertion
//@ max-runs: 200
// Forty strands wait for one lock; one of them gives it back between its look and its change.
#include <assert.h>
#include <pthread.h>

enum { STRANDS = 40 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int left = 1;

static void *take(void *unused) {
    pthread_mutex_lock(&lock);
    int some = left > 0;
    pthread_mutex_unlock(&lock);
    if (some) {
        pthread_mutex_lock(&lock);
        left--;
        assert(left >= 0);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void) {
    pthread_t strands[STRANDS];
    for (int i = 0; i < STRANDS; i++)
        pthread_create(&strands[i], NULL, take, NULL);
    for (int i = 0; i < STRANDS; i++)
        pthread_join(strands[i], NULL);
    return 0;
}
