//@ expect: race
//@ race: fill use
// The reader looks at the data before it reads the pipe.
#include <pthread.h>
#include <unistd.h>

int ends[2], data, seen;

static void *work(void *arg) {
    data = 1; //~ fill
    if (write(ends[1], "x", 1) != 1)
        _exit(1);
    return arg;
}

int main(void) {
    if (pipe(ends) != 0)
        return 1;
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    char byte;
    seen = data; //~ use
    if (read(ends[0], &byte, 1) != 1)
        return 1;
    pthread_join(strand, 0);
    return 0;
}
