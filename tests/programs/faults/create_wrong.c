// Does not look whether the strand was created.
//@ expect: assertion
//@ max-runs: 200
//@ faults: threads
//@ bare: any
#include <assert.h>
#include <pthread.h>

static int count;

static void *work(void *unused) {
    count++;
    return unused;
}

int main(void) {
    pthread_t worker = pthread_self();
    pthread_create(&worker, NULL, work, NULL);
    pthread_join(worker, NULL);
    assert(count == 1);
    return 0;
}
