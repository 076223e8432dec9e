//@ expect: deadlock
//@ message: lock cycle of 2 strands
//@ preemptions: 1
//@ pair: write here
//@ pair: read write
// A lock that prefers writers: a reader that reads again waits for the writer, who waits for the reader.
#define _GNU_SOURCE
#include <pthread.h>

static pthread_rwlock_t lock;
static int value;

static void *write_it(void *unused) {
    (void)unused;
    pthread_rwlock_wrlock(&lock); //~ write
    value++;
    pthread_rwlock_unlock(&lock);
    return 0;
}

static int read_it(void) {
    pthread_rwlock_rdlock(&lock); //~ here
    int seen = value;
    pthread_rwlock_unlock(&lock);
    return seen;
}

int main(void) {
    pthread_rwlockattr_t attr;
    pthread_rwlockattr_init(&attr);
    pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&lock, &attr);
    pthread_t strand;
    pthread_create(&strand, 0, write_it, 0);
    pthread_rwlock_rdlock(&lock); //~ read
    int both = value + read_it();
    pthread_rwlock_unlock(&lock);
    pthread_join(strand, 0);
    return both > 2;
}
