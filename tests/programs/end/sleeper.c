//@ expect: assertion
//@ max-runs: 100
// A strand that sleeps wakes up before the process is gone.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int ended;

static void *sleeps(void *unused) {
    usleep(1000);
    assert(!atomic_load(&ended)); //~ here
    return unused;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, sleeps, 0);
    atomic_store(&ended, 1);
    return 0;
}
