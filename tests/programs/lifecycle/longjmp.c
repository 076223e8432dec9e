//@ expect: pass
// Errors leave deep calls by longjmp, in several strands at once, again and again.
#include <assert.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>

static atomic_int caught;

static void descend(jmp_buf *out, int depth, int code) {
    atomic_fetch_add(&caught, 0);
    if (depth == 0 && code)
        longjmp(*out, code);
    if (depth > 0)
        descend(out, depth - 1, code);
    atomic_fetch_sub(&caught, 100);
}

static void *work(void *arg) {
    (void)arg;
    for (volatile int round = 1; round <= 20; round++) {
        jmp_buf out;
        int code = setjmp(out);
        if (code == 0)
            descend(&out, 10, round);
        assert(code == round);
        atomic_fetch_add(&caught, 1);
    }
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(atomic_load(&caught) == 40);
    return 0;
}
