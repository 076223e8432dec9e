//@ expect: race
//@ race: print use
// snprintf writes a text that another strand reads.
#include <pthread.h>
#include <stdio.h>

char text[32], seen;

static void *work(void *arg) {
    snprintf(text, sizeof text, "%d %s", 42, "words"); //~ print
    return arg;
}

int main(void) {
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    seen = text[1]; //~ use
    pthread_join(strand, 0);
    return 0;
}
