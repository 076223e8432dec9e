//@ expect: race
//@ race: bump bump
// Two strands add to one variable: the same place races with itself.
#include <pthread.h>

int total;

static void *work(void *arg) {
    total++; //~ bump
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
