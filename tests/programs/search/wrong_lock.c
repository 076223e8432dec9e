//@ expect: assertion
//@ preemptions: 1
//@ pair: wrong here
//@ pair: before wrong
//@ pair: right wrong
// Writers and readers of one value hold locks, but not the same one.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock_data = PTHREAD_MUTEX_INITIALIZER, lock_other = PTHREAD_MUTEX_INITIALIZER;
static volatile int value;

static void *right(void *unused) {
    pthread_mutex_lock(&lock_data);
    int before = value; //~ before
    value++; //~ right
    assert(value == before + 1); //~ here
    pthread_mutex_unlock(&lock_data);
    return unused;
}

static void *wrong(void *unused) {
    pthread_mutex_lock(&lock_other);
    value++; //~ wrong
    pthread_mutex_unlock(&lock_other);
    return unused;
}

int main(int argc, char **argv) {
    int count = argc > 1 ? atoi(argv[1]) : 1;
    pthread_t strands[64];
    int made = 0;
    for (int i = 0; i < count && made < 60; i++) {
        pthread_create(&strands[made++], 0, right, 0);
        pthread_create(&strands[made++], 0, wrong, 0);
    }
    while (made > 0)
        pthread_join(strands[--made], 0);
    return 0;
}
