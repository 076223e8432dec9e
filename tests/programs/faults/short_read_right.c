// A `read` may bring less than there is, or be interrupted.
//@ expect: pass
//@ runs: 300
//@ faults: io
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static int ends[2];

static void *tell(void *unused) {
    while (write(ends[1], "0123456", 8) < 0 && errno == EINTR)
        ;
    return unused;
}

int main(void) {
    pthread_t teller;
    char text[8] = "";
    ssize_t got = 0;
    assert(pipe(ends) == 0);
    pthread_create(&teller, NULL, tell, NULL);
    pthread_join(teller, NULL);
    while (got < (ssize_t)sizeof text) {
        ssize_t more = read(ends[0], text + got, sizeof text - got);
        if (more < 0 && errno == EINTR)
            continue;
        if (more <= 0)
            break;
        got += more;
    }
    assert(got == 8 && strcmp(text, "0123456") == 0);
    return 0;
}
