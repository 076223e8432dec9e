//@ expect: pass
//@ bare: pass
// Buffers of input and output of exactly the size they need, passed on through a pipe and used again.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static int ends[2], more[2];
static int pair[2];

static void *receive(void *unused) {
    char *buffer = malloc(5);
    (void)unused;
    // More is asked for than comes: only what comes is written.
    assert(read(ends[0], buffer, 4000) == 5);
    assert(memcmp(buffer, "hello", 5) == 0);
    free(buffer);
    char *one = malloc(3), *two = malloc(4);
    struct iovec parts[] = {{one, 3}, {two, 100}};
    assert(readv(more[0], parts, 2) == 7);
    assert(memcmp(one, "abc", 3) == 0 && memcmp(two, "defg", 4) == 0);
    free(one);
    free(two);
    char *packet = malloc(8);
    assert(recv(pair[0], packet, 1000, 0) == 8);
    free(packet);
    return 0;
}

int main(void) {
    pthread_t strand;
    assert(pipe(ends) == 0 && pipe(more) == 0);
    assert(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0);
    pthread_create(&strand, 0, receive, 0);
    char *text = malloc(6);
    snprintf(text, 6, "%s", "hello world");
    assert(write(ends[1], text, 5) == 5);
    strcpy(text, "abcde");
    char *rest = strdup("fg");
    struct iovec parts[] = {{text, 5}, {rest, 2}};
    assert(writev(more[1], parts, 2) == 7);
    free(rest);
    free(text);
    char *packet = calloc(1, 8);
    assert(send(pair[1], packet, 8, 0) == 8);
    free(packet);
    pthread_join(strand, 0);
    return 0;
}
