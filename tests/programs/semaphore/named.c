//@ expect: pass
// A named semaphore, opened twice, as a lock for three strands.
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

static sem_t *lock;
static int inside, total;

static void *enter(void *unused) {
    (void)unused;
    for (int i = 0; i < 2; i++) {
        sem_wait(lock);
        assert(++inside == 1);
        total++;
        inside--;
        sem_post(lock);
    }
    return 0;
}

int main(void) {
    char name[64];
    snprintf(name, sizeof name, "/threadbare-corpus-%d", (int)getpid());
    lock = sem_open(name, O_CREAT | O_EXCL, 0600, 1);
    assert(lock != SEM_FAILED);
    sem_t *again = sem_open(name, 0);
    assert(again != SEM_FAILED);
    assert(sem_unlink(name) == 0);
    assert(sem_open(name, 0) == SEM_FAILED && errno == ENOENT);
    pthread_t strands[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&strands[i], 0, enter, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(strands[i], 0);
    int value = -1;
    assert(sem_getvalue(again, &value) == 0 && value == 1 && total == 6);
    assert(sem_close(again) == 0 && sem_close(lock) == 0);
    return 0;
}
