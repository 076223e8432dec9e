//@ expect: race
//@ race: bump bump
//@ tsan: no
// A C11 mutex on one of two calls.
#include <threads.h>

mtx_t mutex;
int total;

static int work(void *arg) {
    if (arg)
        mtx_lock(&mutex);
    total++; //~ bump
    if (arg)
        mtx_unlock(&mutex);
    return arg != 0;
}

int main(void) {
    thrd_t a, b;
    mtx_init(&mutex, mtx_plain);
    thrd_create(&a, work, &mutex);
    thrd_create(&b, work, 0);
    thrd_join(a, 0);
    thrd_join(b, 0);
    return 0;
}
