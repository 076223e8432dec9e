//@ expect: pass
// Two strands take turns through two semaphores.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>

static sem_t ping, pong;
static int turns;

static void *answer(void *unused) {
    (void)unused;
    for (int i = 0; i < 4; i++) {
        assert(sem_wait(&ping) == 0);
        assert(turns == 2 * i + 1);
        turns++;
        assert(sem_post(&pong) == 0);
    }
    return 0;
}

int main(void) {
    pthread_t strand;
    assert(sem_init(&ping, 0, 0) == 0 && sem_init(&pong, 0, 0) == 0);
    assert(sem_trywait(&ping) == -1 && errno == EAGAIN);
    pthread_create(&strand, 0, answer, 0);
    for (int i = 0; i < 4; i++) {
        turns++;
        sem_post(&ping);
        sem_wait(&pong);
        assert(turns == 2 * i + 2);
    }
    pthread_join(strand, 0);
    int left = -1;
    assert(sem_getvalue(&ping, &left) == 0 && left == 0);
    assert(sem_destroy(&ping) == 0 && sem_destroy(&pong) == 0);
    return 0;
}
