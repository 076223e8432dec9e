//@ expect: pass
// copied.c with a lock.
#include <assert.h>
#include <pthread.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long record[3];

static void *writes(void *unused) {
    long next[3] = {1, 1, 1};
    pthread_mutex_lock(&lock);
    memcpy(record, next, sizeof record);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *reads(void *unused) {
    long seen[3];
    pthread_mutex_lock(&lock);
    memcpy(seen, record, sizeof seen);
    pthread_mutex_unlock(&lock);
    assert(seen[0] == seen[2]);
    return unused;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, 0, writes, 0);
    pthread_create(&second, 0, reads, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    return 0;
}
