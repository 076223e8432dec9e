//@ expect: deadlock
// Who sees the other first listens first. Both can see each other, and then both listen.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static int pipes[2][2];
static atomic_int announced[2];

static void *talk(void *arg) {
    int me = (int)(long)arg, other = 1 - me;
    char letter = 'x';
    long done = 0;
    atomic_store(&announced[me], 1);
    if (atomic_load(&announced[other])) {
        done += read(pipes[me][0], &letter, 1); //~ here
        done += write(pipes[other][1], &letter, 1);
    } else {
        done += write(pipes[other][1], &letter, 1);
        done += read(pipes[me][0], &letter, 1);
    }
    return (void *)done;
}

int main(void) {
    pthread_t a, b;
    void *x, *y;
    if (pipe(pipes[0]) || pipe(pipes[1]))
        return 1;
    pthread_create(&a, 0, talk, (void *)0);
    pthread_create(&b, 0, talk, (void *)1);
    pthread_join(a, &x);
    pthread_join(b, &y);
    return x != y || (long)x != 2;
}
