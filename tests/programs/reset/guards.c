//@ expect: pass
//@ runs: 60
// Makes a guard of memory that it has not written; the next run may write there.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

static atomic_int turns;
static char room[3 * 4096] __attribute__((aligned(4096)));

static void *strand(void *arg) {
    atomic_fetch_add(&turns, 1);
    return arg;
}

int main(void) {
    assert(((volatile char *)room)[4096] == 0);
    pthread_t one;
    pthread_create(&one, 0, strand, 0);
    atomic_fetch_add(&turns, 1);
    pthread_join(one, 0);
    mprotect(room + 4096, 4096, PROT_NONE);
    return turns != 2;
}
