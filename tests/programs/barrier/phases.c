//@ expect: pass
// Three phases: everybody finishes one before anybody begins the next; one strand a phase is told it is the last.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static pthread_barrier_t barrier;
static int done[3][3];
static atomic_int serial;

static void *work(void *arg) {
    long me = (long)arg;
    for (int phase = 0; phase < 3; phase++) {
        done[phase][me] = 1;
        int result = pthread_barrier_wait(&barrier);
        assert(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
        if (result)
            atomic_fetch_add(&serial, 1);
        for (int i = 0; i < 3; i++)
            assert(done[phase][i]);
    }
    return 0;
}

int main(void) {
    pthread_t strands[3];
    assert(pthread_barrier_init(&barrier, 0, 3) == 0);
    for (long i = 0; i < 3; i++)
        pthread_create(&strands[i], 0, work, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(strands[i], 0);
    assert(atomic_load(&serial) == 3);
    assert(pthread_barrier_destroy(&barrier) == 0);
    return 0;
}
