//@ expect: pass
// Calls that end by a jump, handlers of signals in the middle of everything, and forks: none of it may confuse who is in
// which function.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART __attribute__((noinline))

static atomic_int steps, handled;
static pthread_t target;

APART static void deep(jmp_buf back, int left) {
    atomic_fetch_add(&steps, 1);
    if (left == 0)
        longjmp(back, 1);
    deep(back, left - 1);
    atomic_fetch_add(&steps, 1);
}

APART static void jump(void) {
    jmp_buf back;
    if (!setjmp(back))
        deep(back, 3);
    atomic_fetch_add(&steps, 1);
}

APART static void handle(int signal) {
    (void)signal;
    atomic_fetch_add(&handled, 1);
}

static void *jumper(void *unused) {
    for (int i = 0; i < 30; i++)
        jump();
    return unused;
}

static void *kicker(void *unused) {
    for (int i = 0; i < 10; i++) {
        pthread_kill(target, SIGUSR1);
        jump();
    }
    return unused;
}

static void *forker(void *unused) {
    for (int i = 0; i < 3; i++) {
        pid_t child = fork();
        if (child == 0) {
            jump();
            _exit(0);
        }
        int status;
        if (waitpid(child, &status, 0) != child || status != 0)
            _exit(1);
    }
    return unused;
}

int main(void) {
    pthread_t others[2];
    signal(SIGUSR1, handle);
    pthread_create(&target, 0, jumper, 0);
    pthread_create(&others[0], 0, kicker, 0);
    pthread_create(&others[1], 0, forker, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(others[i], 0);
    pthread_join(target, 0);
    return 0;
}
