//@ expect: pass
// poll, ppoll, select and pselect over two pipes, with and without timeouts.
#define _GNU_SOURCE
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

static int a[2], b[2];

static void *feed(void *arg) {
    int fd = (int)(long)arg;
    assert(write(fd, "z", 1) == 1);
    return 0;
}

int main(void) {
    pthread_t x, y;
    char letter;
    assert(pipe(a) == 0 && pipe(b) == 0);
    struct pollfd fds[2] = {{a[0], POLLIN, 0}, {b[0], POLLIN, 0}};
    assert(poll(fds, 2, 0) == 0 && poll(fds, 2, 2) == 0);
    pthread_create(&x, 0, feed, (void *)(long)a[1]);
    pthread_create(&y, 0, feed, (void *)(long)b[1]);
    for (int seen = 0; seen < 2;) {
        int ready = poll(fds, 2, -1);
        assert(ready == 1 || ready == 2);
        for (int i = 0; i < 2; i++)
            if (fds[i].revents & POLLIN) {
                assert(read(fds[i].fd, &letter, 1) == 1 && letter == 'z');
                seen++;
            }
    }
    pthread_join(x, 0);
    pthread_join(y, 0);

    struct timespec ms = {0, 1000000};
    fd_set set;
    FD_ZERO(&set);
    FD_SET(a[0], &set);
    struct timeval tv = {0, 1000};
    assert(ppoll(fds, 1, &ms, 0) == 0 && select(a[0] + 1, &set, 0, 0, &tv) == 0);
    pthread_create(&x, 0, feed, (void *)(long)a[1]);
    FD_SET(a[0], &set);
    assert(select(a[0] + 1, &set, 0, 0, 0) == 1 && FD_ISSET(a[0], &set));
    assert(pselect(a[0] + 1, &set, 0, 0, &ms, 0) == 1);
    pthread_join(x, 0);
    close(a[1]);
    assert(read(a[0], &letter, 1) == 1);
    assert(poll(fds, 1, -1) == 1 && (fds[0].revents & POLLHUP));
    return 0;
}
