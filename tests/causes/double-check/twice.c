// The second check is missing: both make the object; statistics beside it.
//@ expect: assertion
//@ pair: look make
//@ pattern: check-then-act|lost-update
//@ object: cache.object
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static struct {
    pthread_mutex_t lock;
    void *_Atomic object;
    int made;
} cache = {PTHREAD_MUTEX_INITIALIZER, 0, 0};
static atomic_int hits, misses;
static int content;

static void *user(void *arg) {
    if (atomic_load(&cache.object)) { //~ look
        atomic_fetch_add(&hits, 1);
        return arg;
    }
    atomic_fetch_add(&misses, 1);
    pthread_mutex_lock(&cache.lock); //~ lock
    atomic_store(&cache.object, &content); //~ make
    cache.made++; //~ made
    pthread_mutex_unlock(&cache.lock);
    return arg;
}

int main(void) {
    pthread_t x, y;
    pthread_create(&x, 0, user, 0);
    pthread_create(&y, 0, user, 0);
    pthread_join(x, 0);
    pthread_join(y, 0);
    assert(cache.made == 1); //~ end
    return 0;
}
