/* Two strands add to one plain counter; every addition is a read and a write. */
#include <pthread.h>
#include <stdlib.h>

static volatile long counter;
static long additions;

static void *add(void *unused) {
    for (long i = 0; i < additions; i++)
        counter = counter + 1;
    return unused;
}

int main(int argc, char **argv) {
    pthread_t one, two;
    additions = argc > 1 ? atol(argv[1]) : 1000;
    pthread_create(&one, NULL, add, NULL);
    pthread_create(&two, NULL, add, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
