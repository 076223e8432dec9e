//@ expect: pass
//@ runs: 300
// Peterson's lock with sequentially consistent atomics.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int wants[2], turn;
static int inside, total;

static void *work(void *arg) {
    int me = (int)(long)arg, other = 1 - me;
    for (int i = 0; i < 2; i++) {
        atomic_store(&wants[me], 1);
        atomic_store(&turn, other);
        while (atomic_load(&wants[other]) && atomic_load(&turn) == other) {
        }
        assert(++inside == 1);
        total++;
        inside--;
        atomic_store(&wants[me], 0);
    }
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, (void *)0);
    pthread_create(&b, 0, work, (void *)1);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(total == 4);
    return 0;
}
