// The pointer is looked at, and is gone when it is used.
//@ expect: crash
//@ pair: check clear
//@ pair: clear use
//@ pattern: check-then-act
//@ object: current
#include <pthread.h>
#include <stddef.h>

struct session {
    int id;
    int bytes;
};
static struct session one = {1, 0};
static struct session *volatile current = &one;

static void *traffic(void *arg) {
    if (current != NULL) //~ check
        current->bytes += 10; //~ use
    return arg;
}

int main(void) {
    pthread_t worker;
    pthread_create(&worker, 0, traffic, 0);
    current = NULL; //~ clear
    pthread_join(worker, 0);
    return 0;
}
