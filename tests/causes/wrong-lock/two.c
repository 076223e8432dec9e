// Each strand has a lock, and not the same one.
//@ expect: assertion
//@ pair: one two
//@ pair: one one
//@ pair: two two
//@ pattern: lost-update
//@ object: counter
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *one(void *arg) {
    pthread_mutex_lock(&first);
    counter += 1; //~ one
    pthread_mutex_unlock(&first);
    return arg;
}

static void *two(void *arg) {
    pthread_mutex_lock(&second);
    counter += 2; //~ two
    pthread_mutex_unlock(&second);
    return arg;
}

int main(void) {
    pthread_t x, y;
    pthread_create(&x, 0, one, 0);
    pthread_create(&y, 0, two, 0);
    pthread_join(x, 0);
    pthread_join(y, 0);
    assert(counter == 3); //~ end
    return 0;
}
