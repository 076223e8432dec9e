//@ expect: pass
// The name is measured and copied under one lock.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char name[32] = "ann";
char *copy;

static void *rename_user(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    strcpy(name, "annabella-maria");
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, rename_user, 0);
    pthread_mutex_lock(&lock);
    copy = malloc(strlen(name) + 1);
    strcpy(copy, name);
    pthread_mutex_unlock(&lock);
    pthread_join(strand, 0);
    free(copy);
    return 0;
}
