//@ expect: pass
//@ runs: 300
//@ warns: none
//@ flags: -lm
// Leaves descriptors, mappings, handlers, masks, limits, timers, folder and modes as a run must not find them.
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

static atomic_int turns;
static char dirty[1 << 18];
static _Thread_local int mine;

static void handler(int signal) { (void)signal; }

static void *strand(void *arg) {
    assert(mine == 0);
    mine = 1;
    atomic_fetch_add(&turns, 1);
    (void)!malloc(10000);
    return arg;
}

static void is_fresh(void) {
    struct sigaction action;
    sigset_t blocked;
    struct rlimit limit;
    struct itimerval timer;
    char folder[4096];
    assert(turns == 0 && mine == 0 && dirty[0] == 0 && dirty[sizeof dirty - 1] == 0);
    assert(sigaction(SIGUSR1, NULL, &action) == 0 && action.sa_handler == SIG_DFL);
    assert(sigprocmask(SIG_BLOCK, NULL, &blocked) == 0 && !sigismember(&blocked, SIGUSR2));
    assert(getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != 77);
    assert(getitimer(ITIMER_PROF, &timer) == 0 && timer.it_value.tv_sec == 0);
    assert(getcwd(folder, sizeof folder) && strcmp(folder, "/proc") != 0);
    mode_t mode = umask(0123);
    assert(mode != 0123);
    assert(fegetround() == FE_TONEAREST);
    int first = open("/dev/null", O_RDONLY);
    assert(first >= 0 && first < 20);
    void *wish = (void *)0x200000000000;
    void *got = mmap(wish, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    assert(got == wish && *(char *)got == 0);
    memset(got, 1, 1 << 16);
}

static void leave(void) {
    struct sigaction action = {.sa_handler = handler};
    sigset_t blocked;
    struct itimerval timer = {{0, 0}, {1000, 0}};
    struct rlimit limit;
    sigaction(SIGUSR1, &action, NULL);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR2);
    sigprocmask(SIG_BLOCK, &blocked, NULL);
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = 77;
    setrlimit(RLIMIT_NOFILE, &limit);
    setitimer(ITIMER_PROF, &timer, NULL);
    if (chdir("/proc") != 0)
        abort();
    fesetround(FE_UPWARD);
    for (int i = 0; i < 20; i++)
        (void)!open("/dev/null", O_RDONLY);
    memset(dirty, 1, sizeof dirty);
}

int main(void) {
    is_fresh();
    leave();
    pthread_t strands[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&strands[i], NULL, strand, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(strands[i], NULL);
    assert(turns == 2);
    return 0;
}
