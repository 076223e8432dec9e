//@ expect: use-after-free
// The buffer is freed while a strand waits in read(2) to fill it.
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static int ends[2];

static void *receive(void *buffer) {
    ssize_t got = read(ends[0], buffer, 32); //~ here
    return got == 5 ? buffer : 0;
}

int main(void) {
    pthread_t strand;
    void *buffer = malloc(32);
    if (pipe(ends) != 0)
        return 1;
    pthread_create(&strand, 0, receive, buffer);
    free(buffer);
    if (write(ends[1], "hello", 5) != 5)
        return 1;
    pthread_join(strand, 0);
    return 0;
}
