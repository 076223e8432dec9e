//@ expect: assertion
//@ max-runs: 100
// A semaphore is made anew while another strand posts it: the post is lost if it came first.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

static sem_t tokens;

static void *posts(void *unused) {
    sem_post(&tokens);
    return unused;
}

int main(void) {
    pthread_t strand;
    int left;
    pthread_create(&strand, 0, posts, 0);
    sem_init(&tokens, 0, 0);
    pthread_join(strand, 0);
    sem_getvalue(&tokens, &left);
    assert(left == 1); //~ here
    return 0;
}
