//@ expect: pass
// main leaves by pthread_exit; its exit code is 0 and the others finish their work first.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int finished;

static void check(void) {
    if (atomic_load(&finished) != 3)
        abort();
}

static void *work(void *unused) {
    (void)unused;
    atomic_fetch_add(&finished, 1);
    return 0;
}

int main(void) {
    pthread_t strand;
    atexit(check);
    for (int i = 0; i < 3; i++) {
        assert(pthread_create(&strand, 0, work, 0) == 0);
        pthread_detach(strand);
    }
    pthread_exit((void *)5);
}
