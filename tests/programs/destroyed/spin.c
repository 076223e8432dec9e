//@ expect: use-after-destroy
//@ max-runs: 100
//@ bare: any
// A spin lock is destroyed while a worker may still come to it.
#include <pthread.h>

static pthread_spinlock_t lock;
static int count;

static void *work(void *unused) {
    pthread_spin_lock(&lock); //~ here
    count++;
    pthread_spin_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t strand;
    pthread_spin_init(&lock, 0);
    pthread_create(&strand, 0, work, 0);
    pthread_spin_lock(&lock);
    count++;
    pthread_spin_unlock(&lock);
    pthread_spin_destroy(&lock);
    pthread_join(strand, 0);
    return 0;
}
