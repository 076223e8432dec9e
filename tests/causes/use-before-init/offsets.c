// Each worker adds to the offset of the one before it, which may not be there yet; steps are counted beside it.
//@ expect: assertion
//@ pair: set use
//@ pattern: use-before-init
//@ object: thread_data[0].offset
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static struct thread_data {
    int id;
    volatile int offset;
    int done;
} thread_data[2];
static atomic_int steps;

static void *worker(void *arg) {
    struct thread_data *own = arg;
    atomic_fetch_add(&steps, 1);
    if (own->id == 0) {
        own->offset = 16; //~ set
    } else {
        own->offset = thread_data[0].offset + 16; //~ use
    }
    atomic_fetch_add(&steps, 1);
    own->done = 1;
    return 0;
}

int main(void) {
    pthread_t t[2];
    for (int i = 0; i < 2; i++) {
        thread_data[i].id = i;
        pthread_create(&t[i], 0, worker, &thread_data[i]);
    }
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    assert(thread_data[0].done && thread_data[1].done);
    assert(thread_data[1].offset == 32); //~ end
    return 0;
}
