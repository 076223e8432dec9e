//@ expect: assertion
// A fill of constant size, which gcc would make without a call.
#include <assert.h>
#include <pthread.h>
#include <string.h>

static struct {
    long valid;
    long size;
} entry = {1, 7};

static void *clears(void *unused) {
    memset(&entry, 0, sizeof entry);
    return unused;
}

static void *looks(void *unused) {
    long size = entry.size;
    long valid = entry.valid;
    assert(valid <= size);
    return unused;
}

static void *looks_back(void *unused) {
    long valid = entry.valid;
    long size = entry.size;
    assert(size == 7 * valid || size == 7);
    return unused;
}

int main(void) {
    pthread_t strands[3];
    pthread_create(&strands[0], 0, clears, 0);
    pthread_create(&strands[1], 0, looks, 0);
    pthread_create(&strands[2], 0, looks_back, 0);
    for (int at = 0; at < 3; at++) pthread_join(strands[at], 0);
    return 0;
}
