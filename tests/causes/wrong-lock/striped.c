// The lock is chosen by the strand, not by the bucket; the buckets are of the heap, visits are counted.
//@ expect: assertion
//@ pair: read write
//@ pattern: lost-update
//@ object: any
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct bucket {
    int key;
    int count;
};
static struct bucket *buckets;
static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static atomic_int visits;

static void *insert(void *arg) {
    long id = (long)arg;
    struct bucket *bucket = &buckets[1];
    atomic_fetch_add(&visits, 1);
    pthread_mutex_lock(&locks[id]);
    int count = bucket->count; //~ read
    atomic_fetch_add(&visits, 1);
    bucket->count = count + 1; //~ write
    pthread_mutex_unlock(&locks[id]);
    return 0;
}

int main(void) {
    pthread_t t[2];
    buckets = calloc(4, sizeof *buckets);
    for (long i = 0; i < 2; i++) pthread_create(&t[i], 0, insert, (void *)i);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    assert(buckets[1].count == 2); //~ end
    free(buckets);
    return 0;
}
