#include <pthread.h>
#include <stdio.h>
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
int a;
int ready;
int total;
static void *first(void *argument) {
    pthread_mutex_lock(&lock);
    a = 1; //~ one
    total = 5;
    asm volatile("" ::: "memory");
    a = 2; //~ two
    ready = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return argument;
}
static void *second(void *argument) {
    pthread_mutex_lock(&lock);
    a = 3; //~ three
    pthread_mutex_unlock(&lock);
    a = 4; //~ wild
    return argument;
}
static void *third(void *argument) {
    int sum = 0;
    pthread_mutex_lock(&lock);
    sum += a; //~ read
    pthread_mutex_unlock(&lock);
    sum += a; //~ bare
    pthread_mutex_lock(&lock);
    a = sum; //~ self
    asm volatile("" ::: "memory");
    sum += a; //~ own
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    a = sum; //~ again
    while (!ready)
        pthread_cond_wait(&changed, &lock);
    sum += a; //~ waited
    pthread_mutex_unlock(&lock);
    __atomic_store_n((long *)argument, sum, __ATOMIC_RELAXED);
    return argument;
}
int main(void) {
    pthread_t strands[3];
    long result;
    int early = a; //~ early
    pthread_create(&strands[0], 0, first, 0);
    pthread_create(&strands[1], 0, second, 0);
    pthread_create(&strands[2], 0, third, &result);
    for (int i = 0; i < 3; i++)
        pthread_join(strands[i], 0);
    printf("%ld %d %d\n", __atomic_load_n(&result, __ATOMIC_RELAXED), early, total);
    return 0;
}
