//@ expect: pass
// An atomic of eight bytes, and a plain read of the byte after it.
#include <pthread.h>
#include <stdint.h>

struct {
    uint64_t wide;
    volatile char beside;
} x;
char seen;

static void *work(void *arg) {
    __atomic_fetch_or(&x.wide, 255, __ATOMIC_RELEASE);
    return arg;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    seen = x.beside;
    pthread_join(strand, 0);
    return 0;
}
