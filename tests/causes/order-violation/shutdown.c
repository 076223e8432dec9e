// The device is closed while the worker still uses it.
//@ expect: assertion
//@ pair: close use
//@ pattern: order-violation
//@ object: device.open
#include <assert.h>
#include <pthread.h>

static struct {
    int number;
    int open;
} device;

static void *worker(void *arg) {
    int open = device.open; //~ use
    assert(open); //~ end
    return arg;
}

int main(void) {
    pthread_t t;
    device.open = 1;
    pthread_create(&t, 0, worker, 0);
    device.open = 0; //~ close
    pthread_join(t, 0);
    return 0;
}
