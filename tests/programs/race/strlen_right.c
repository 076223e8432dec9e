//@ expect: pass
// strlen reads up to the end of the text; another strand writes behind it.
#include <pthread.h>
#include <string.h>

char text[32];
volatile size_t length;

static void *work(void *arg) {
    length = strlen(text);
    return arg;
}

int main(void) {
    volatile char *fill = text;
    for (int i = 0; i < 7; i++)
        fill[i] = 'x';
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    text[8] = 'y';
    pthread_join(strand, 0);
    return 0;
}
