//@ expect: assertion
//@ flags: -O2
// One expression reads and writes. In optimised code of LLVM the read has a call of its own only if that is asked for.
#include <assert.h>
#include <pthread.h>

static long total;

static void *deposits(void *amount) {
    total += (long)amount;
    return 0;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, 0, deposits, (void *)3);
    pthread_create(&second, 0, deposits, (void *)4);
    pthread_join(first, 0);
    pthread_join(second, 0);
    assert(total == 7); //~ here
    return 0;
}
