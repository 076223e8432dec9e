//@ expect: pass
// snprintf reads the text it is given up to the precision it is given.
#include <pthread.h>
#include <stdio.h>

char text[32], name[16];

static void *work(void *arg) {
    snprintf(text, sizeof text, "name %.3s", name);
    return arg;
}

int main(void) {
    volatile char *fill = name;
    for (int i = 0; i < 7; i++)
        fill[i] = 'x';
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    name[5] = 'y';
    pthread_join(strand, 0);
    return 0;
}
