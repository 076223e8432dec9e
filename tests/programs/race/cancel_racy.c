//@ expect: race
//@ race: clean use
// pthread_cancel asks; the clean-up comes when it comes.
#include <pthread.h>
#include <unistd.h>

int data, seen;

static void clean(void *arg) {
    (void)arg;
    data = 1; //~ clean
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
    seen = data; //~ use
    pthread_join(strand, 0);
    return 0;
}
