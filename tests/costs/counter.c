/* Two strands add to one plain counter: every access is a point, and every other point a switch. */
#include <pthread.h>

enum { ADDITIONS = 15000 };

static volatile long counter;

static void *add(void *unused) {
    for (int i = 0; i < ADDITIONS; i++)
        counter = counter + 1;
    return unused;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, add, NULL);
    pthread_create(&two, NULL, add, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return counter == 0;
}
