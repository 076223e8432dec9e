// Takes `EAGAIN` for an error.
//@ expect: assertion
//@ max-runs: 200
//@ faults: io
//@ bare: any
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static int ends[2];

static void *tell(void *unused) {
    char byte = 7;
    while (write(ends[1], &byte, 1) != 1)
        ;
    return unused;
}

int main(void) {
    pthread_t teller;
    char byte = 0;
    assert(pipe(ends) == 0 && fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);
    pthread_create(&teller, NULL, tell, NULL);
    pthread_join(teller, NULL);
    assert(read(ends[0], &byte, 1) == 1);
    assert(byte == 7);
    return 0;
}
