// A buffer is given back before the worker has read it.
//@ expect: use-after-free
//@ pair: free use
//@ pattern: order-violation
//@ object: any
#include <pthread.h>
#include <stdlib.h>

struct buffer {
    int length;
    int bytes[4];
};

static volatile int kept;

static void *worker(void *arg) {
    struct buffer *buffer = arg;
    kept = buffer->length; //~ use
    return 0;
}

int main(void) {
    pthread_t t;
    struct buffer *buffer = calloc(1, sizeof *buffer);
    buffer->length = 4;
    pthread_create(&t, 0, worker, buffer);
    free(buffer); //~ free
    pthread_join(t, 0);
    return 0;
}
