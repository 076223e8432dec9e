/* Figure 2 of the paper: of two writes in one critical section only the second can be seen. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int a;

static void *first(void *arg) {
    pthread_mutex_lock(&lock);
    a = 1; //~ one
    a = 2; //~ two
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *second(void *arg) {
    pthread_mutex_lock(&lock);
    a = 3; //~ three
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *third(void *arg) {
    pthread_mutex_lock(&lock);
    int seen = a; //~ read
    pthread_mutex_unlock(&lock);
    printf("%d\n", seen);
    return arg;
}

int main(void) {
    void *(*const bodies[])(void *) = {first, second, third};
    pthread_t strands[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&strands[i], NULL, bodies[i], NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(strands[i], NULL);
    return 0;
}
