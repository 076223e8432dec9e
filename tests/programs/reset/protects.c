//@ expect: pass
//@ runs: 60
// Leaves memory that it has written read-only: the run has passed all the same, and the next one may write there.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

static atomic_int turns;
static char page[8192] __attribute__((aligned(4096)));

static void *strand(void *arg) {
    atomic_fetch_add(&turns, 1);
    return arg;
}

int main(void) {
    assert(page[0] == 0 && page[4096] == 0);
    page[0] = page[4096] = 1;
    pthread_t one;
    pthread_create(&one, 0, strand, 0);
    atomic_fetch_add(&turns, 1);
    pthread_join(one, 0);
    mprotect(page, 4096, PROT_READ);
    return turns != 2;
}
