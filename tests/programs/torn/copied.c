//@ expect: assertion
// A copy of three words is made word by word: a reader can see the first of one and the last of another.
#include <assert.h>
#include <pthread.h>
#include <string.h>

static long record[3];

static void *writes(void *unused) {
    long next[3] = {1, 1, 1};
    memcpy(record, next, sizeof record);
    return unused;
}

static void *reads(void *unused) {
    long seen[3];
    memcpy(seen, record, sizeof seen);
    assert(seen[0] == seen[2]); //~ here
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
