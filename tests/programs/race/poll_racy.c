//@ expect: race
//@ race: fill use
// poll ran out of time: nothing was handed over.
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

int ends[2], data, seen;

static void *work(void *arg) {
    data = 1; //~ fill
    return arg;
}

int main(void) {
    if (pipe(ends) != 0)
        return 1;
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    struct pollfd wait = {.fd = ends[0], .events = POLLIN};
    if (poll(&wait, 1, 5) != 0)
        return 1;
    seen = data; //~ use
    pthread_join(strand, 0);
    return 0;
}
