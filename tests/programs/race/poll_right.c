//@ expect: pass
// poll says that the byte is there.
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

int ends[2], data, seen;

static void *work(void *arg) {
    data = 1;
    if (write(ends[1], "x", 1) != 1)
        _exit(1);
    return arg;
}

int main(void) {
    if (pipe(ends) != 0)
        return 1;
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    struct pollfd wait = {.fd = ends[0], .events = POLLIN};
    char byte;
    if (poll(&wait, 1, -1) != 1 || read(ends[0], &byte, 1) != 1)
        return 1;
    seen = data;
    pthread_join(strand, 0);
    return 0;
}
