//@ expect: crash
//@ message: SIGSEGV
//@ preemptions: 2
//@ pair: clear here
//@ pair: check clear
// The pointer is checked, taken away by another strand, and used.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic(int *) current;
static int value = 3;

static void *use(void *unused) {
    (void)unused;
    if (atomic_load(&current)) //~ check
        return (void *)(long)*atomic_load(&current); //~ here
    return 0;
}

int main(void) {
    pthread_t strand;
    atomic_store(&current, &value);
    pthread_create(&strand, 0, use, 0);
    atomic_store(&current, (int *)0); //~ clear
    pthread_join(strand, 0);
    return 0;
}
