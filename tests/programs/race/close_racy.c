//@ expect: race
//@ race: fill use
// The writing end is closed before the data are there.
#include <pthread.h>
#include <unistd.h>

int ends[2], data, seen;

static void *work(void *arg) {
    close(ends[1]);
    data = 1; //~ fill
    return arg;
}

int main(void) {
    if (pipe(ends) != 0)
        return 1;
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    char byte;
    if (read(ends[0], &byte, 1) != 0)
        return 1;
    seen = data; //~ use
    pthread_join(strand, 0);
    return 0;
}
