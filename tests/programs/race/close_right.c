//@ expect: pass
// The end of a pipe, seen by its reader, hands data over.
#include <pthread.h>
#include <unistd.h>

int ends[2], data, seen;

static void *work(void *arg) {
    data = 1;
    close(ends[1]);
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
    seen = data;
    pthread_join(strand, 0);
    return 0;
}
