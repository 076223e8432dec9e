//@ expect: pass
//@ runs: 5
//@ strands: 1001
//@ timeout: 60s
// A thousand strands alive at once.
#include <assert.h>
#include <pthread.h>

#define STRANDS 1000
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all_here = PTHREAD_COND_INITIALIZER;
static int here;

static void *meet(void *arg) {
    pthread_mutex_lock(&lock);
    if (++here == STRANDS)
        pthread_cond_broadcast(&all_here);
    while (here < STRANDS)
        pthread_cond_wait(&all_here, &lock);
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    static pthread_t strands[STRANDS];
    for (long i = 0; i < STRANDS; i++)
        assert(pthread_create(&strands[i], 0, meet, (void *)i) == 0);
    for (long i = 0; i < STRANDS; i++) {
        void *result;
        assert(pthread_join(strands[i], &result) == 0 && result == (void *)i);
    }
    return 0;
}
