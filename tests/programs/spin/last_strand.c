//@ expect: livelock
//@ timeout: 20s
// The last strand that is left waits in a loop for what nobody will store.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int stage;

static void *work(void *unused) {
    (void)unused;
    atomic_store(&stage, 1);
    return NULL;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, NULL, work, NULL);
    pthread_join(strand, NULL);
    while (atomic_load(&stage) != 2) {
    }
    return 0;
}
