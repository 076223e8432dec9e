//@ expect: pass
//@ strategy: round-robin
//@ runs: 50
//@ warns: none
// The same, but a third lock is held around both: the cycle cannot close, and is not even tried.
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static atomic_int work;

static void busy(void) {
    for (int i = 0; i < 200; i++)
        atomic_fetch_add(&work, 1);
}

static void *early(void *unused) {
    (void)unused;
    pthread_mutex_lock(&gate);
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&gate);
    busy();
    return 0;
}

static void *late(void *unused) {
    (void)unused;
    busy();
    pthread_mutex_lock(&gate);
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&gate);
    return 0;
}

int main(void) {
    pthread_t x, y;
    pthread_create(&x, 0, early, 0);
    pthread_create(&y, 0, late, 0);
    pthread_join(x, 0);
    pthread_join(y, 0);
    return 0;
}
