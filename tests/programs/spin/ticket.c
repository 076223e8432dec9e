//@ expect: pass
// A ticket lock: first come, first served, spinning on a counter.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_uint next_ticket, now_serving;
static unsigned last = -1u;
static int counter;

static void *work(void *unused) {
    (void)unused;
    for (int i = 0; i < 2; i++) {
        unsigned mine = atomic_fetch_add_explicit(&next_ticket, 1, memory_order_relaxed);
        while (atomic_load_explicit(&now_serving, memory_order_acquire) != mine) {
        }
        assert(mine == last + 1);
        last = mine;
        counter++;
        atomic_store_explicit(&now_serving, mine + 1, memory_order_release);
    }
    return 0;
}

int main(void) {
    pthread_t strands[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&strands[i], 0, work, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(strands[i], 0);
    assert(counter == 6);
    return 0;
}
