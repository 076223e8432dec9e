//@ expect: use-after-free
// A line is formatted into a buffer that has been given back.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *line;
static volatile int number = 7;
static volatile double share = 0.25;

static void *print(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    snprintf(line, 64, "%d of %s: %.2f", number, "all", share); //~ here
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t strand;
    line = malloc(64);
    pthread_create(&strand, 0, print, 0);
    pthread_mutex_lock(&lock);
    free(line);
    pthread_mutex_unlock(&lock);
    pthread_join(strand, 0);
    return 0;
}
