//@ expect: pass
//@ runs: 100
// Uses much of its stack and gives pages back to the kernel; the next run finds both as new.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

static atomic_int turns;
static char old[1 << 16] __attribute__((aligned(4096))) = {7};

static int deep(int left) {
    volatile char room[4096];
    memset((void *)room, left, sizeof room);
    return left == 0 ? room[0] : deep(left - 1) + room[1] - room[4095];
}

static void *strand(void *arg) {
    atomic_fetch_add(&turns, 1);
    return arg;
}

int main(void) {
    assert(old[0] == 7 && turns == 0);
    (void)deep(700);
    madvise(old, sizeof old, MADV_DONTNEED);
    old[1] = 1;
    mprotect(old + 8192, 4096, PROT_READ);
    mprotect(old + 8192, 4096, PROT_READ | PROT_WRITE);
    pthread_t one;
    pthread_create(&one, 0, strand, 0);
    atomic_fetch_add(&turns, 1);
    pthread_join(one, 0);
    return turns != 2;
}
