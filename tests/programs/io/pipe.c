//@ expect: pass
// Numbers through a pipe from two writers to one reader, which reads to the end.
#include <assert.h>
#include <pthread.h>
#include <unistd.h>

static int ends[2];

static void *send_numbers(void *arg) {
    int fd = (int)(long)arg;
    for (int i = 1; i <= 4; i++)
        assert(write(fd, &i, sizeof i) == sizeof i);
    assert(close(fd) == 0);
    return 0;
}

static void *receive(void *unused) {
    (void)unused;
    long sum = 0;
    int number;
    ssize_t got;
    while ((got = read(ends[0], &number, sizeof number)) == sizeof number)
        sum += number;
    assert(got == 0);
    return (void *)sum;
}

int main(void) {
    pthread_t reader, a, b;
    void *sum;
    assert(pipe(ends) == 0);
    pthread_create(&reader, 0, receive, 0);
    pthread_create(&a, 0, send_numbers, (void *)(long)dup(ends[1]));
    pthread_create(&b, 0, send_numbers, (void *)(long)ends[1]);
    pthread_join(a, 0);
    pthread_join(b, 0);
    pthread_join(reader, &sum);
    assert((long)sum == 20);
    return 0;
}
