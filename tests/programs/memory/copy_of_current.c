//@ expect: pass
// The snapshot takes the buffer's pointer under the lock.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *buffer;
size_t size = 48;
char copy[64];

static void *snapshot(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    memcpy(copy, buffer, size);
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t strand;
    buffer = calloc(1, size);
    pthread_create(&strand, 0, snapshot, 0);
    pthread_mutex_lock(&lock);
    char *old = buffer;
    buffer = calloc(1, size);
    free(old);
    pthread_mutex_unlock(&lock);
    pthread_join(strand, 0);
    free(buffer);
    return 0;
}
