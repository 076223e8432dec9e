//@ expect: pass
// A count through an eventfd hands data over.
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

int descriptor, data, seen;

static void *work(void *arg) {
    data = 1;
    eventfd_write(descriptor, 1);
    return arg;
}

int main(void) {
    descriptor = eventfd(0, 0);
    pthread_t strand;
    pthread_create(&strand, 0, work, 0);
    eventfd_t count;
    eventfd_read(descriptor, &count);
    seen = data;
    pthread_join(strand, 0);
    return 0;
}
