//@ expect: pass
// A spin lock.
#include <pthread.h>

pthread_spinlock_t lock;
int total;

static void *work(void *arg) {
    pthread_spin_lock(&lock);
    total++;
    pthread_spin_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
