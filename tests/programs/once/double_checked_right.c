//@ expect: pass
// Double-checked initialisation with acquire and release, as it should be.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct config {
    int size, flags;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(struct config *) instance;

static struct config *get(void) {
    struct config *config = atomic_load_explicit(&instance, memory_order_acquire);
    if (!config) {
        pthread_mutex_lock(&lock);
        config = atomic_load_explicit(&instance, memory_order_relaxed);
        if (!config) {
            config = malloc(sizeof *config);
            config->size = 3;
            config->flags = 5;
            atomic_store_explicit(&instance, config, memory_order_release);
        }
        pthread_mutex_unlock(&lock);
    }
    return config;
}

static void *use(void *unused) {
    (void)unused;
    struct config *config = get();
    assert(config->size == 3 && config->flags == 5);
    return config;
}

int main(void) {
    pthread_t a, b;
    void *x, *y;
    pthread_create(&a, 0, use, 0);
    pthread_create(&b, 0, use, 0);
    pthread_join(a, &x);
    pthread_join(b, &y);
    assert(x == y);
    free(x);
    return 0;
}
