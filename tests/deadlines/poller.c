// A server that waits for a connection which comes after ten seconds, and beside it a strand that looks after something every millisecond.
#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <poll.h>
#include <unistd.h>

static atomic_int stop;
static int request;

static void *look_after(void *unused) {
    while (!atomic_load(&stop))
        usleep(1000);
    return unused;
}

static void *client(void *unused) {
    unsigned long long one = 1;
    sleep(10);
    return write(request, &one, sizeof one) == sizeof one ? unused : &stop;
}

int main(void) {
    pthread_t strands[2];
    struct pollfd wanted = {0, POLLIN, 0};
    wanted.fd = request = eventfd(0, 0);
    pthread_create(&strands[0], 0, look_after, 0);
    pthread_create(&strands[1], 0, client, 0);
    int came = poll(&wanted, 1, -1);
    atomic_store(&stop, 1);
    for (int i = 0; i < 2; i++)
        pthread_join(strands[i], 0);
    return came == 1 ? 0 : 1;
}
