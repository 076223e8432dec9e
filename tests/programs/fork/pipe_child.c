//@ expect: pass
//@ runs: 50
// A child answers over a pipe; the parent's strands go on meanwhile.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_int counter;

static void *count(void *unused) {
    (void)unused;
    for (int i = 0; i < 10; i++)
        atomic_fetch_add(&counter, 1);
    return 0;
}

int main(void) {
    pthread_t strand;
    int ends[2], status;
    char letter = 0;
    assert(pipe(ends) == 0);
    pthread_create(&strand, 0, count, 0);
    pid_t child = fork();
    if (child == 0) {
        usleep(1000);
        _exit(write(ends[1], "k", 1) == 1 ? 0 : 1);
    }
    assert(read(ends[0], &letter, 1) == 1 && letter == 'k');
    assert(wait(&status) == child && status == 0);
    pthread_join(strand, 0);
    FILE *echo = popen("echo answer", "r");
    char line[16] = "";
    assert(fgets(line, sizeof line, echo) && line[0] == 'a' && pclose(echo) == 0);
    assert(atomic_load(&counter) == 10);
    return 0;
}
