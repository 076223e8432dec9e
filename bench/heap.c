/* A run that writes to so many pages of the heap, and then has two strands at a lock: the argument is how many pages. */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long counter;

static void *add(void *unused) {
    pthread_mutex_lock(&lock);
    counter++;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(int argc, char **argv) {
    long pages = argc > 1 ? atol(argv[1]) : 1;
    char *heap = malloc((size_t)pages * 4096);
    for (long i = 0; i < pages; i++)
        heap[i * 4096] = (char)i;
    pthread_t one, two;
    pthread_create(&one, NULL, add, NULL);
    pthread_create(&two, NULL, add, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    free(heap);
    return counter != 2;
}
