//@ expect: pass
//@ runs: 50
// More data than a pipe holds: the writer must wait for the reader, several times.
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define SIZE 300000
static int ends[2];

static void *produce(void *unused) {
    (void)unused;
    char *data = malloc(SIZE);
    memset(data, 'x', SIZE);
    struct iovec parts[2] = {{data, 10}, {data, 20}};
    assert(writev(ends[1], parts, 2) == 30);
    assert(write(ends[1], data, SIZE - 30) == SIZE - 30);
    close(ends[1]);
    free(data);
    return 0;
}

int main(void) {
    pthread_t producer;
    char block[5000];
    long total = 0;
    ssize_t got;
    assert(pipe2(ends, O_CLOEXEC) == 0);
    pthread_create(&producer, 0, produce, 0);
    while ((got = read(ends[0], block, sizeof block)) > 0)
        total += got;
    assert(got == 0 && total == SIZE);
    pthread_join(producer, 0);
    return 0;
}
