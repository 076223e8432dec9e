/* Strands meet at a barrier, each after an addition: the first argument is how many strands, the second how often. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static pthread_barrier_t barrier;
static atomic_long counter;
static long rounds;

static void *add(void *unused) {
    for (long i = 0; i < rounds; i++) {
        counter++;
        pthread_barrier_wait(&barrier);
    }
    return unused;
}

int main(int argc, char **argv) {
    long strands = argc > 1 ? atol(argv[1]) : 2;
    rounds = argc > 2 ? atol(argv[2]) : 1;
    pthread_barrier_init(&barrier, NULL, (unsigned)strands);
    pthread_t *list = calloc(strands, sizeof *list);
    for (long i = 0; i < strands; i++)
        pthread_create(&list[i], NULL, add, NULL);
    for (long i = 0; i < strands; i++)
        pthread_join(list[i], NULL);
    int wrong = counter != strands * rounds;
    free(list);
    return wrong;
}
