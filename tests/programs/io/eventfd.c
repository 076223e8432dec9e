//@ expect: pass
// An eventfd as counter and as semaphore; a read waits until there is something.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int permits;
static atomic_int taken;

static void *take(void *unused) {
    (void)unused;
    eventfd_t value;
    assert(eventfd_read(permits, &value) == 0 && value == 1);
    atomic_fetch_add(&taken, 1);
    return 0;
}

int main(void) {
    pthread_t a, b;
    uint64_t value;
    permits = eventfd(0, EFD_SEMAPHORE);
    pthread_create(&a, 0, take, 0);
    pthread_create(&b, 0, take, 0);
    assert(eventfd_write(permits, 2) == 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(atomic_load(&taken) == 2);
    int counter = eventfd(3, EFD_NONBLOCK);
    assert(eventfd_write(counter, 4) == 0);
    assert(read(counter, &value, sizeof value) == sizeof value && value == 7);
    assert(read(counter, &value, sizeof value) == -1 && errno == EAGAIN);
    return 0;
}
