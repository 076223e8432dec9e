//@ expect: pass
//@ runs: 2000
//@ warns: none
// Some orders leave what a run must not find, most leave nothing: none is met by a run that is made for good.
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

static atomic_int turns;
static int order[4];
static char dirty[1 << 18];

/* A call that no library makes for it. */
static long umask_itself(long mode) {
#ifdef __x86_64__
    long old;
    __asm__ volatile("syscall" : "=a"(old) : "a"(95L), "D"(mode) : "rcx", "r11", "memory");
    return old;
#else
    return umask(mode);
#endif
}

static void is_fresh(void) {
    struct sigaction action;
    struct rlimit limit;
    struct itimerval timer;
    struct stat input;
    char folder[4096];
    assert(turns == 0 && dirty[0] == 0 && dirty[sizeof dirty - 1] == 0);
    assert(sigaction(SIGUSR1, NULL, &action) == 0 && action.sa_handler == SIG_DFL);
    assert(getrlimit(RLIMIT_CORE, &limit) == 0 && limit.rlim_cur != 4096);
    assert(getitimer(ITIMER_PROF, &timer) == 0 && timer.it_value.tv_sec == 0);
    assert(getcwd(folder, sizeof folder) && strcmp(folder, "/proc") != 0);
    long mode = umask_itself(0123);
    assert(mode != 0124);
    umask_itself(mode);
    assert(fcntl(77, F_GETFD) < 0);
    assert(fstat(0, &input) == 0 && !S_ISDIR(input.st_mode));
    void *wish = (void *)0x200000000000;
    void *got = mmap(wish, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    assert(got == wish && munmap(got, 4096) == 0);
}

static void handler(int signal) { (void)signal; }

static void leave(int what) {
    struct sigaction action = {.sa_handler = handler};
    struct itimerval timer = {{0, 0}, {1000, 0}};
    struct rlimit limit;
    switch (what) {
    case 1: assert(dup2(0, 77) == 77); break;
    case 2: umask_itself(0124); break;
    case 3: assert(chdir("/proc") == 0); break;
    case 4:
        assert(getrlimit(RLIMIT_CORE, &limit) == 0);
        limit.rlim_cur = 4096 < limit.rlim_max ? 4096 : limit.rlim_max;
        setrlimit(RLIMIT_CORE, &limit);
        break;
    case 5: setitimer(ITIMER_PROF, &timer, NULL); break;
    case 6: mmap((void *)0x200000000000, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0); break;
    case 7: sigaction(SIGUSR1, &action, NULL); break;
    case 8: memset(dirty, 1, sizeof dirty); break;
    case 9: close(0); assert(open("/", O_RDONLY) == 0); break;
    case 10: printf("this order\n"); break;
    default: break;
    }
}

static void *strand(void *arg) {
    order[atomic_fetch_add(&turns, 1)] = (int)(long)arg;
    return 0;
}

int main(void) {
    pthread_t strands[4];
    is_fresh();
    for (long i = 0; i < 4; i++)
        pthread_create(&strands[i], NULL, strand, (void *)i);
    for (int i = 0; i < 4; i++)
        pthread_join(strands[i], NULL);
    leave(order[0] * 16 + order[1] * 4 + order[2] - 16);
    return 0;
}
