//@ expect: pass
// An event loop: two producers, a timer and a way to stop it.
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

static int data, stop;

static void *produce(void *unused) {
    (void)unused;
    uint64_t one = 1;
    assert(write(data, &one, sizeof one) == sizeof one);
    assert(write(data, &one, sizeof one) == sizeof one);
    return 0;
}

static void *loop(void *unused) {
    (void)unused;
    uint64_t total = 0, count, ticks = 0;
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    struct itimerspec once = {{0, 0}, {0, 1000000}};
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    assert(timer >= 0 && timerfd_settime(timer, 0, &once, 0) == 0);
    int fds[3] = {data, stop, timer};
    for (int i = 0; i < 3; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data = {.fd = fds[i]}};
        assert(epoll_ctl(epoll, EPOLL_CTL_ADD, fds[i], &event) == 0);
    }
    for (int stopped = 0; !stopped || ticks == 0;) {
        struct epoll_event events[3];
        int ready = epoll_wait(epoll, events, 3, -1);
        assert(ready >= 1 && ready <= 3);
        for (int i = 0; i < ready; i++) {
            assert(read(events[i].data.fd, &count, sizeof count) == sizeof count);
            if (events[i].data.fd == data)
                total += count;
            else if (events[i].data.fd == timer)
                ticks += count;
            else
                stopped = 1;
        }
    }
    assert(ticks == 1);
    struct epoll_event event;
    assert(epoll_wait(epoll, &event, 1, 0) == 0);
    assert(epoll_ctl(epoll, EPOLL_CTL_DEL, data, 0) == 0);
    assert(epoll_wait(epoll, &event, 1, 1) == 0);
    close(epoll);
    close(timer);
    return (void *)(long)total;
}

int main(void) {
    pthread_t a, b, looper;
    uint64_t one = 1;
    void *total;
    data = eventfd(0, EFD_CLOEXEC);
    stop = eventfd(0, EFD_CLOEXEC);
    pthread_create(&looper, 0, loop, 0);
    pthread_create(&a, 0, produce, 0);
    pthread_create(&b, 0, produce, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(write(stop, &one, sizeof one) == sizeof one);
    pthread_join(looper, &total);
    assert((long)total == 4);
    return 0;
}
