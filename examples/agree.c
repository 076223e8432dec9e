/* Two strands set a pair, and the second looks whether it agrees. With -DAPART each half has a critical section of its own. */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int a, b;

static void apart(void) {
#ifdef APART
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
}

static void *ones(void *arg) {
    pthread_mutex_lock(&lock);
    a = 1;
    apart();
    b = 1;
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *twos(void *arg) {
    pthread_mutex_lock(&lock);
    a = 2;
    apart();
    b = 2;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    int first = a;
    apart();
    int second = b;
    pthread_mutex_unlock(&lock);
    assert(first == second);
    return arg;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, ones, NULL);
    pthread_create(&two, NULL, twos, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
