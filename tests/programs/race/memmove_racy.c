//@ expect: race
//@ race: move write
// memmove inside an array while another strand writes to what it leaves behind.
#include <pthread.h>
#include <string.h>

int x[20];
volatile size_t length = 10 * sizeof(int);

static void *work(void *arg) {
    memmove(x + 5, x, length); //~ move
    return arg;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    x[2] = 1; //~ write
    pthread_join(strand, 0);
    return 0;
}
