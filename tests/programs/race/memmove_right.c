//@ expect: pass
// memmove inside an array while another strand writes beside it.
#include <pthread.h>
#include <string.h>

int x[20];
volatile size_t length = 10 * sizeof(int);

static void *work(void *arg) {
    memmove(x + 5, x, length);
    return arg;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    x[15] = 1;
    pthread_join(strand, 0);
    return 0;
}
