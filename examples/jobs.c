/* A job is freed while the list still has it. Every access is under the lock. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct job {
    int number;
    int result;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct job *current;

static void *show(void *unused) {
    pthread_mutex_lock(&lock);
    if (current)
        printf("job %d: %d\n", current->number, current->result);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t shower;
    current = calloc(1, sizeof *current);
    pthread_create(&shower, NULL, show, NULL);
    pthread_mutex_lock(&lock);
    free(current);
    pthread_mutex_unlock(&lock);
    pthread_join(shower, NULL);
    return 0;
}
