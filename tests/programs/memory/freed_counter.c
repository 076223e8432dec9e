//@ expect: use-after-free
//@ message: atomic update of 4 bytes, 0 bytes into a block of 4 bytes that was freed
//@ preemptions: 0
//@ pair: free here
// Statistics are freed while a strand may still count.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int *hits;

static void *count(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    atomic_fetch_add(hits, 1); //~ here
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t strand;
    hits = calloc(1, sizeof *hits);
    pthread_create(&strand, 0, count, 0);
    pthread_mutex_lock(&lock);
    free(hits); //~ free
    pthread_mutex_unlock(&lock);
    pthread_join(strand, 0);
    return 0;
}
