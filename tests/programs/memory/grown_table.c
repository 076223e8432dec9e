//@ expect: use-after-free
//@ preemptions: 1
//@ pair: grow here
//@ pair: point grow
// A pointer into a table that another strand grows: realloc moves it.
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *table;

static void *grow(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    table = realloc(table, 1000 * sizeof *table); //~ grow
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t strand;
    table = calloc(4, sizeof *table);
    pthread_create(&strand, 0, grow, 0);
    pthread_mutex_lock(&lock);
    int *second = &table[1]; //~ point
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    *second = 2; //~ here
    pthread_mutex_unlock(&lock);
    pthread_join(strand, 0);
    free(table);
    return 0;
}
