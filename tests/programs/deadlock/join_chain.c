//@ expect: pass
// Each strand joins the one before it; the first has none.
#include <pthread.h>
#include <semaphore.h>

static pthread_t strands[3];
static sem_t made;

static void *follow(void *arg) {
    long own = (long)arg;
    sem_wait(&made);
    if (own > 0)
        pthread_join(strands[own - 1], 0);
    return 0;
}

int main(void) {
    sem_init(&made, 0, 0);
    for (long i = 0; i < 3; i++)
        pthread_create(&strands[i], 0, follow, (void *)i);
    for (int i = 0; i < 3; i++)
        sem_post(&made);
    pthread_join(strands[2], 0);
    return 0;
}
