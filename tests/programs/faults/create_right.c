// A strand may not be created: its work is done here.
//@ expect: pass
//@ runs: 300
//@ faults: threads
#include <assert.h>
#include <pthread.h>

static int count;

static void *work(void *unused) {
    count++;
    return unused;
}

int main(void) {
    pthread_t worker = pthread_self();
    if (pthread_create(&worker, NULL, work, NULL) == 0)
        pthread_join(worker, NULL);
    else
        work(NULL);
    assert(count == 1);
    return 0;
}
