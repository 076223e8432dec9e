//@ expect: deadlock
//@ max-runs: 1000
// A pool of workers with a bounded queue. `submit` signals a worker when it adds a task, but not after it had to wait for
// room: it takes for granted that somebody is at work then. If the workers have emptied the queue and sleep before it
// goes on, its task stays where it is, and who waits for all tasks to be done waits for ever.
#include <pthread.h>
#include <stdlib.h>

#define ROOM 2
#define MOST 8

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_task = PTHREAD_COND_INITIALIZER;
static pthread_cond_t has_room = PTHREAD_COND_INITIALIZER;
static pthread_cond_t all_done = PTHREAD_COND_INITIALIZER;
static int queue[ROOM], first, count, done, tasks, closed;

static void submit(int task) {
    pthread_mutex_lock(&lock);
    int waited = 0;
    while (count == ROOM) {
        pthread_cond_wait(&has_room, &lock);
        waited = 1;
    }
    queue[(first + count++) % ROOM] = task;
    if (!waited)
        pthread_cond_signal(&has_task);
    pthread_mutex_unlock(&lock);
}

static void *work(void *unused) {
    pthread_mutex_lock(&lock);
    for (;;) {
        while (count == 0 && !closed)
            pthread_cond_wait(&has_task, &lock);
        if (count == 0)
            break;
        first = (first + 1) % ROOM;
        if (count-- == ROOM)
            pthread_cond_signal(&has_room);
        pthread_mutex_unlock(&lock);
        pthread_mutex_lock(&lock);
        if (++done == tasks)
            pthread_cond_signal(&all_done);
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(int argc, char **argv) {
    int workers = argc > 1 ? atoi(argv[1]) : 2;
    tasks = argc > 2 ? atoi(argv[2]) : 4;
    pthread_t strands[MOST];
    for (int i = 0; i < workers; i++)
        pthread_create(&strands[i], 0, work, 0);
    for (int i = 0; i < tasks; i++)
        submit(i);
    pthread_mutex_lock(&lock);
    while (done < tasks)
        pthread_cond_wait(&all_done, &lock);
    closed = 1;
    pthread_cond_broadcast(&has_task);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < workers; i++)
        pthread_join(strands[i], 0);
    return 0;
}
