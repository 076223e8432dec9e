// A `write` to a stream may take only a part, or be interrupted.
//@ expect: pass
//@ runs: 300
//@ faults: io
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

static int ends[2];

static void *tell(void *unused) {
    static const char text[100] = "the text";
    for (size_t put = 0; put < sizeof text;) {
        ssize_t more = write(ends[1], text + put, sizeof text - put);
        if (more < 0 && errno == EINTR)
            continue;
        assert(more >= 0);
        put += more;
    }
    close(ends[1]);
    return unused;
}

int main(void) {
    pthread_t teller;
    char text[100];
    size_t got = 0;
    assert(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    pthread_create(&teller, NULL, tell, NULL);
    for (;;) {
        ssize_t more = read(ends[0], text + got, sizeof text - got);
        if (more < 0 && errno == EINTR)
            continue;
        if (more <= 0)
            break;
        got += more;
    }
    assert(got == sizeof text);
    pthread_join(teller, NULL);
    return 0;
}
