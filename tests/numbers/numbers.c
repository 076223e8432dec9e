// What a call gives depends on which strand makes it first, or it does not: argument 1 names the call, argument 2 says whether the
// number of the first strand must not be larger, or not smaller, than that of the second.
#define _GNU_SOURCE
#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static int pairs[2][2];
#define pair(who) pairs[who]

static long signal_descriptor(void) {
    sigset_t set;
    sigemptyset(&set);
    return signalfd(-1, &set, 0);
}

static long closed(void) {
    int descriptor = dup(1);
    close(descriptor);
    return descriptor;
}

static long closed_stream(void) {
    FILE *stream = fopen("/dev/null", "r");
    long descriptor = fileno(stream);
    fclose(stream);
    return descriptor;
}

static long key(void) {
    pthread_key_t key;
    pthread_key_create(&key, 0);
    return key;
}

static long timer(void) {
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_NONE};
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    return (long)timer;
}

// More is freed than a heap keeps aside, so that a block may come again.
static long used_again(void) {
    for (int i = 0; i < 400; i++)
        free(malloc(2000));
    return (long)malloc(2000);
}

static unsigned random_number(void) {
    unsigned number;
    getrandom(&number, sizeof number, 0);
    return number;
}

static long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000L + time.tv_nsec;
}

static const char *name;
static long number[2];

static long call(long who) {
    if (!strcmp(name, "dup"))
        return dup(1);
    if (!strcmp(name, "fcntl"))
        return fcntl(1, F_DUPFD, 0);
    if (!strcmp(name, "open"))
        return open("/dev/null", O_RDONLY);
    if (!strcmp(name, "openat"))
        return openat(AT_FDCWD, "/", O_RDONLY);
    if (!strcmp(name, "socket"))
        return socket(AF_UNIX, SOCK_STREAM, 0);
    if (!strcmp(name, "socketpair"))
        return (socketpair(AF_UNIX, SOCK_STREAM, 0, pair(who)), pair(who)[0]);
    if (!strcmp(name, "pipe"))
        return (pipe(pair(who)), pair(who)[0]);
    if (!strcmp(name, "eventfd"))
        return eventfd(0, 0);
    if (!strcmp(name, "epoll"))
        return epoll_create1(0);
    if (!strcmp(name, "memfd"))
        return memfd_create("x", 0);
    if (!strcmp(name, "timerfd"))
        return timerfd_create(CLOCK_MONOTONIC, 0);
    if (!strcmp(name, "signalfd"))
        return signal_descriptor();
    if (!strcmp(name, "inotify"))
        return inotify_init();
    if (!strcmp(name, "fopen"))
        return fileno(fopen("/dev/null", "r"));
    if (!strcmp(name, "tmpfile"))
        return fileno(tmpfile());
    if (!strcmp(name, "opendir"))
        return dirfd(opendir("/"));
    if (!strcmp(name, "closed"))
        return closed();
    if (!strcmp(name, "closed-stream"))
        return closed_stream();
    if (!strcmp(name, "key"))
        return key();
    if (!strcmp(name, "timer"))
        return timer();
    if (!strcmp(name, "mapping"))
        return (long)mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!strcmp(name, "break"))
        return (long)sbrk(16);
    if (!strcmp(name, "block"))
        return (long)malloc(40);
    if (!strcmp(name, "zeroed"))
        return (long)calloc(3, 40);
    if (!strcmp(name, "aligned"))
        return (long)aligned_alloc(64, 64);
    if (!strcmp(name, "copy"))
        return (long)strdup("abc");
    if (!strcmp(name, "large"))
        return (long)malloc(100000);
    if (!strcmp(name, "used-again"))
        return used_again();
    if (!strcmp(name, "random"))
        return (long)random_number();
    if (!strcmp(name, "rand"))
        return rand();
    if (!strcmp(name, "stack"))
        return (long)__builtin_frame_address(0);
    if (!strcmp(name, "self"))
        return (long)pthread_self();
    if (!strcmp(name, "clock"))
        return now();
    exit(3);
}

static void *calls(void *who) {
    number[(long)who] = call((long)who);
    return 0;
}

int main(int count, char **arguments) {
    pthread_t first, second;
    if (count != 3)
        return 3;
    name = arguments[1];
    pthread_create(&first, 0, calls, (void *)0);
    pthread_create(&second, 0, calls, (void *)1);
    pthread_join(first, 0);
    pthread_join(second, 0);
    if (!strcmp(arguments[2], "rising"))
        assert(number[0] <= number[1]);
    else
        assert(number[0] >= number[1]);
    return 0;
}
