//@ expect: use-after-free
//@ message: read of 4 bytes, 4 bytes into a block of 8 bytes that was freed
//@ preemptions: 0
//@ pair: free here
// The job is freed under the lock, but its pointer stays.
#include <pthread.h>
#include <stdlib.h>

struct job {
    int id;
    int result;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct job *job;
static volatile int last;

static void *look(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    if (job)
        last = job->result; //~ here
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t strand;
    job = calloc(1, sizeof *job);
    pthread_create(&strand, 0, look, 0);
    pthread_mutex_lock(&lock);
    free(job); //~ free
    pthread_mutex_unlock(&lock);
    pthread_join(strand, 0);
    return 0;
}
