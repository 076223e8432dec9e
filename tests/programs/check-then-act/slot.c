//@ expect: assertion
//@ preemptions: 1
//@ pair: look take
// Both strands find the slot free and take it.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int taken;
static atomic_int owners;

static void *claim(void *unused) {
    (void)unused;
    if (!atomic_load(&taken)) { //~ look
        atomic_store(&taken, 1); //~ take
        assert(atomic_fetch_add(&owners, 1) == 0); //~ here
    }
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, claim, 0);
    pthread_create(&b, 0, claim, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
