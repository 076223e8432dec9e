//@ expect: use-after-destroy
//@ max-runs: 100
//@ bare: any
// A reader is told to stop, and not waited for.
#include <pthread.h>
#include <stdatomic.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static atomic_int stopped;
static int table;

static void *reads(void *sum) {
    for (int i = 0; i < 3 && !atomic_load(&stopped); i++) {
        pthread_rwlock_rdlock(&lock); //~ here
        *(int *)sum += table;
        pthread_rwlock_unlock(&lock);
    }
    return 0;
}

int main(void) {
    pthread_t strand;
    int sum = 0;
    pthread_create(&strand, 0, reads, &sum);
    atomic_store(&stopped, 1);
    pthread_rwlock_wrlock(&lock);
    table = 1;
    pthread_rwlock_unlock(&lock);
    pthread_rwlock_destroy(&lock);
    pthread_join(strand, 0);
    return 0;
}
