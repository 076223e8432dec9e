// Strands that have not come to their ends keep what they have: on their stacks, in thread-local variables and over keys.
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

static sem_t ready, never;
static __thread int *local;
static pthread_key_t key;

static void *waits(void *unused) {
    int *own = malloc(sizeof *own);
    int **inner = malloc(sizeof *inner);
    *inner = malloc(sizeof **inner);
    local = malloc(sizeof *local);
    *own = **inner = *local = 1;
    pthread_setspecific(key, malloc(24));
    sem_post(&ready);
    sem_wait(&never);
    free(own);
    free(*inner);
    free(inner);
    free(local);
    return unused;
}

int main(void) {
    pthread_t strand;
    sem_init(&ready, 0, 0);
    sem_init(&never, 0, 0);
    pthread_key_create(&key, free);
    for (int i = 0; i < 2; i++) {
        pthread_create(&strand, NULL, waits, NULL);
        pthread_detach(strand);
    }
    sem_wait(&ready);
    sem_wait(&ready);
    exit(0);
}
