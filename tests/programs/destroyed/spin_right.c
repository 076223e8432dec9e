//@ expect: pass
// A spin lock is made anew where one was destroyed.
#include <pthread.h>

static pthread_spinlock_t lock;
static int count;

static void *work(void *unused) {
    pthread_spin_lock(&lock);
    count++;
    pthread_spin_unlock(&lock);
    return unused;
}

int main(void) {
    for (int i = 0; i < 2; i++) {
        pthread_t strand;
        pthread_spin_init(&lock, 0);
        pthread_create(&strand, 0, work, 0);
        work(0);
        pthread_join(strand, 0);
        pthread_spin_destroy(&lock);
    }
    return count == 4 ? 0 : 1;
}
