/* Strands add to one counter under a lock: the first argument is how many strands, the second how often each. */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long counter, additions;

static void *add(void *unused) {
    for (long i = 0; i < additions; i++) {
        pthread_mutex_lock(&lock);
        counter++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(int argc, char **argv) {
    long strands = argc > 1 ? atol(argv[1]) : 2;
    additions = argc > 2 ? atol(argv[2]) : 1;
    pthread_t *list = calloc(strands, sizeof *list);
    for (long i = 0; i < strands; i++)
        pthread_create(&list[i], NULL, add, NULL);
    for (long i = 0; i < strands; i++)
        pthread_join(list[i], NULL);
    int wrong = counter != strands * additions;
    free(list);
    return wrong;
}
