// Takes one `write` for all of it.
//@ expect: assertion
//@ max-runs: 200
//@ faults: io
//@ bare: any
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

static int ends[2];

static void *tell(void *unused) {
    static const char text[100] = "the text";
    write(ends[1], text, sizeof text);
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
