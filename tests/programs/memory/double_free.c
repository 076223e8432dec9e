//@ expect: double-free
//@ preemptions: 1
//@ pair: look clear
// Both strands find the buffer and free it.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic(char *) buffer;

static void *cleanup(void *unused) {
    (void)unused;
    char *mine = atomic_load(&buffer); //~ look
    if (mine) {
        free(mine); //~ here
        atomic_store(&buffer, 0); //~ clear
    }
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
