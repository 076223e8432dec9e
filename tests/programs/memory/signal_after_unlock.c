//@ expect: use-after-free
//@ message: cond-signal, 40 bytes into a block
//@ preemptions: 2
//@ pair: free here
// The waiter may see the request done without waiting, and free it before it is signalled.
#include <pthread.h>
#include <stdlib.h>

struct request {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int done;
};

static void *serve(void *argument) {
    struct request *request = argument;
    pthread_mutex_lock(&request->lock);
    request->done = 1;
    pthread_mutex_unlock(&request->lock);
    pthread_cond_signal(&request->changed); //~ here
    return 0;
}

int main(void) {
    pthread_t strand;
    struct request *request = calloc(1, sizeof *request);
    pthread_mutex_init(&request->lock, 0);
    pthread_cond_init(&request->changed, 0);
    pthread_create(&strand, 0, serve, request);
    pthread_mutex_lock(&request->lock);
    while (!request->done)
        pthread_cond_wait(&request->changed, &request->lock);
    pthread_mutex_unlock(&request->lock);
    free(request); //~ free
    pthread_join(strand, 0);
    return 0;
}
