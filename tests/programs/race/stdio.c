//@ expect: pass
// Streams have locks of their own, and errno is each strand's own.
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static void *work(void *arg) {
    for (int i = 0; i < 3; i++) {
        printf("line %d of %s\n", i, (const char *)arg);
        errno = i;
        if (close(-1) == 0 || errno != EBADF)
            _exit(1);
    }
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, "one");
    pthread_create(&b, 0, work, "two");
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
