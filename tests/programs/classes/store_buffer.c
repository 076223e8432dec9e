//@ expect: pass
//@ runs: 20
//@ classes: 3
// Each strand writes one number and reads the other.
#include <pthread.h>
#include <stdatomic.h>

static atomic_int numbers[2];

static void *write_and_read(void *which) {
    long at = (long)which;
    atomic_store(&numbers[at], 1);
    return (void *)(long)atomic_load(&numbers[1 - at]);
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, write_and_read, (void *)0);
    pthread_create(&two, 0, write_and_read, (void *)1);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
