//@ expect: pass
//@ suppress: race:hide_me
//@ suppress: race:^no_such_function$
// A race that a suppression names by its function.
#include <pthread.h>

int x;

__attribute__((noinline)) static void hide_me(void) {
    x++;
}

static void *work(void *arg) {
    hide_me();
    return arg;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
