//@ expect: pass
// The request is signalled under its lock, and freed by the one who waited.
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
    pthread_cond_signal(&request->changed);
    pthread_mutex_unlock(&request->lock);
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
    pthread_cond_destroy(&request->changed);
    pthread_mutex_destroy(&request->lock);
    free(request);
    pthread_join(strand, 0);
    return 0;
}
