//@ expect: assertion
//@ max-runs: 100
// A mutex is destroyed that another strand still holds.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int done;

static void *uses(void *unused) {
    pthread_mutex_lock(&lock);
    atomic_store(&done, 1);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, uses, 0);
    if (atomic_load(&done))
        assert(pthread_mutex_destroy(&lock) == 0); //~ here
    pthread_join(strand, 0);
    return 0;
}
