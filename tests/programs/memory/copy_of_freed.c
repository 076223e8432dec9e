//@ expect: use-after-free
//@ preemptions: 0
//@ pair: free here
// A snapshot is copied from a buffer that the writer has replaced and freed.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *buffer;
size_t size = 48;
char copy[64];

static void *snapshot(void *argument) {
    char *from = argument;
    pthread_mutex_lock(&lock);
    memcpy(copy, from, size); //~ here
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t strand;
    buffer = calloc(1, size);
    pthread_create(&strand, 0, snapshot, buffer);
    pthread_mutex_lock(&lock);
    char *old = buffer;
    buffer = calloc(1, size);
    free(old); //~ free
    pthread_mutex_unlock(&lock);
    pthread_join(strand, 0);
    free(buffer);
    return 0;
}
