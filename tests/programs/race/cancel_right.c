//@ expect: pass
// A cancelled strand's clean-up comes before its join.
#include <pthread.h>
#include <unistd.h>

int data, seen;

static void clean(void *arg) {
    (void)arg;
    data = 1;
}

static void *work(void *arg) {
    pthread_cleanup_push(clean, 0);
    for (;;)
        pause();
    pthread_cleanup_pop(0);
    return arg;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    pthread_cancel(strand);
    pthread_join(strand, 0);
    seen = data;
    return 0;
}
