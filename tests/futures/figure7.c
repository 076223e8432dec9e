/* Figure 7 of the paper: with one lock the two reads see writes of one strand, with two locks they need not. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#ifdef TWO_LOCKS
static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
#endif
static int a, b;

static void between(void) {
#ifdef TWO_LOCKS
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&other);
#endif
}

static void leave(void) {
#ifdef TWO_LOCKS
    pthread_mutex_unlock(&other);
#else
    pthread_mutex_unlock(&lock);
#endif
}

static void *first(void *arg) {
    pthread_mutex_lock(&lock);
    a = 1; //~ a one
    between();
    b = 1; //~ b one
    leave();
    return arg;
}

static void *second(void *arg) {
    int x = 0;
    pthread_mutex_lock(&lock);
    a = 2; //~ a two
    between();
#ifdef UNASSIGNED
    if (arg != NULL)
#endif
        b = 2; //~ b two
    leave();
    pthread_mutex_lock(&lock);
    int seen = a; //~ read a
    between();
    if (seen == 1)
        x = b; //~ read b
    leave();
    printf("%d%d\n", seen, x);
    if (seen == 1 && x == 2)
        exit(3);
    return NULL;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, first, NULL);
    pthread_create(&two, NULL, second, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
