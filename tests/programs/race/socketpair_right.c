//@ expect: pass
// A message through a pair of sockets hands data over.
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

int ends[2], data, seen;

static void *work(void *arg) {
    data = 1;
    if (send(ends[1], "x", 1, 0) != 1)
        _exit(1);
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
    seen = data;
    pthread_join(strand, 0);
    return 0;
}
