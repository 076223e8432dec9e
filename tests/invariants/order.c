// A worker that goes by a limit which may not have been set yet.
#include <assert.h>
#include <pthread.h>

static int limit;
static int used;

static void *worker(void *arg) {
    used = limit; //~ second
    return arg;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, worker, 0);
    limit = 64; //~ first
    pthread_join(thread, 0);
    assert(used == 64);
    return 0;
}
