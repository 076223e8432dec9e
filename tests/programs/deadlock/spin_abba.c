//@ expect: deadlock
//@ message: lock cycle of 2 strands
//@ preemptions: 1
//@ pair: a-taken a-wanted
//@ pair: b-taken here
// Two spin locks in opposite orders.
#include <pthread.h>

static pthread_spinlock_t a, b;
static int moved;

static void *forth(void *unused) {
    (void)unused;
    pthread_spin_lock(&a); //~ a-taken
    pthread_spin_lock(&b); //~ here
    moved++;
    pthread_spin_unlock(&b);
    pthread_spin_unlock(&a);
    return 0;
}

int main(void) {
    pthread_spin_init(&a, 0);
    pthread_spin_init(&b, 0);
    pthread_t strand;
    pthread_create(&strand, 0, forth, 0);
    pthread_spin_lock(&b); //~ b-taken
    pthread_spin_lock(&a); //~ a-wanted
    moved--;
    pthread_spin_unlock(&a);
    pthread_spin_unlock(&b);
    pthread_join(strand, 0);
    return moved;
}
