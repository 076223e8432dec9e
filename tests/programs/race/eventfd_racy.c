//@ expect: race
//@ race: fill use
// The count is sent before the data are there.
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

int descriptor, data, seen;

static void *work(void *arg) {
    eventfd_write(descriptor, 1);
    data = 1; //~ fill
    return arg;
}

int main(void) {
    descriptor = eventfd(0, 0);
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    eventfd_t count;
    eventfd_read(descriptor, &count);
    seen = data; //~ use
    pthread_join(strand, 0);
    return 0;
}
