//@ expect: use-after-free
// The name is measured by strlen after its user has been removed.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *volatile name;
static volatile size_t longest;

static void *measure(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    longest = strlen(name); //~ here
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t strand;
    name = strdup("margaret");
    pthread_create(&strand, 0, measure, 0);
    pthread_mutex_lock(&lock);
    free(name);
    pthread_mutex_unlock(&lock);
    pthread_join(strand, 0);
    return 0;
}
