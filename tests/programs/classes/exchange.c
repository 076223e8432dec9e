//@ expect: pass
//@ runs: 20
//@ classes: 3
// Three strands want to be the first: an exchange that fails is a read, and reads do not concern each other.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int first;

static void *compete(void *number) {
    int none = 0;
    atomic_compare_exchange_strong(&first, &none, (int)(long)number);
    return 0;
}

int main(void) {
    pthread_t strands[3];
    for (long i = 0; i < 3; i++)
        pthread_create(&strands[i], 0, compete, (void *)(i + 1));
    for (int i = 0; i < 3; i++)
        pthread_join(strands[i], 0);
    return first == 0;
}
