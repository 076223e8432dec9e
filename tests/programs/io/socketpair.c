//@ expect: pass
// An echo over a socket pair, stream and datagram, with send, recv, sendmsg, recvmsg and shutdown.
#include <assert.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static void *echo(void *arg) {
    int fd = (int)(long)arg;
    char buffer[32];
    ssize_t got;
    while ((got = recv(fd, buffer, sizeof buffer, 0)) > 0)
        assert(send(fd, buffer, (size_t)got, MSG_NOSIGNAL) == got);
    assert(got == 0);
    close(fd);
    return 0;
}

static void talk(int type) {
    int pair[2];
    pthread_t server;
    char buffer[32] = "";
    assert(socketpair(AF_UNIX, type, 0, pair) == 0);
    pthread_create(&server, 0, echo, (void *)(long)pair[1]);
    assert(send(pair[0], "hello", 5, 0) == 5);
    assert(recv(pair[0], buffer, 5, MSG_WAITALL) == 5 && memcmp(buffer, "hello", 5) == 0);
    struct iovec part = {"again", 5};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    assert(sendmsg(pair[0], &message, 0) == 5);
    struct iovec into = {buffer, sizeof buffer};
    struct msghdr answer = {.msg_iov = &into, .msg_iovlen = 1};
    assert(recvmsg(pair[0], &answer, 0) == 5 && memcmp(buffer, "again", 5) == 0);
    assert(shutdown(pair[0], SHUT_WR) == 0);
    pthread_join(server, 0);
    assert(recv(pair[0], buffer, sizeof buffer, 0) == 0);
    close(pair[0]);
}

int main(void) {
    talk(SOCK_STREAM);
    talk(SOCK_SEQPACKET);
    return 0;
}
