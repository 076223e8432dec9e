//@ expect: livelock
//@ timeout: 20s
// Each strand raises its flag and spins until the other's is down.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int wants[2];

static void *work(void *arg) {
    int me = (int)(long)arg;
    atomic_store(&wants[me], 1);
    while (atomic_load(&wants[1 - me])) {
    }
    atomic_store(&wants[me], 0);
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, (void *)0);
    pthread_create(&b, 0, work, (void *)1);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
