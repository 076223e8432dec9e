//@ expect: pass
//@ runs: 50
// Strands created and joined one after another, far more than live at once.
#include <assert.h>
#include <pthread.h>

static void *twice(void *arg) { return (void *)((long)arg * 2); }

int main(void) {
    for (long i = 0; i < 100; i += 2) {
        pthread_t a, b;
        void *x, *y;
        pthread_create(&a, 0, twice, (void *)i);
        pthread_create(&b, 0, twice, (void *)(i + 1));
        pthread_join(b, &y);
        pthread_join(a, &x);
        assert((long)x == 2 * i && (long)y == 2 * i + 2);
    }
    return 0;
}
