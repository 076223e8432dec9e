//@ expect: race
//@ race: fill use
// The message is sent before the data are there.
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

int ends[2], data, seen;

static void *work(void *arg) {
    if (send(ends[1], "x", 1, 0) != 1)
        _exit(1);
    data = 1; //~ fill
    return arg;
}

int main(void) {
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return 1;
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    char byte;
    if (recv(ends[0], &byte, 1, 0) != 1)
        return 1;
    seen = data; //~ use
    pthread_join(strand, 0);
    return 0;
}
