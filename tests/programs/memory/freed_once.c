//@ expect: pass
// Both strands take the buffer by an exchange; one of them gets it.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic(char *) buffer;

static void *cleanup(void *unused) {
    (void)unused;
    free(atomic_exchange(&buffer, (char *)0));
    return 0;
}

int main(void) {
    pthread_t a, b;
    atomic_store(&buffer, malloc(100));
    pthread_create(&a, 0, cleanup, 0);
    pthread_create(&b, 0, cleanup, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
