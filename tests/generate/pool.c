// A pool of workers that take jobs from a list. It is told to stop outside its lock.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct job {
    void (*run)(int *);
    int *argument;
    struct job *next;
};

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t ready;
    struct job *head, **tail;
    int pending;
    atomic_int done;
    int stopped;
};

static struct pool pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .ready = PTHREAD_COND_INITIALIZER};
static int results[4];

void submit(struct pool *p, void (*run)(int *), int *argument) {
    struct job *job = malloc(sizeof *job);
    *job = (struct job){run, argument, NULL};
    pthread_mutex_lock(&p->lock);
    *p->tail = job;
    p->tail = &job->next;
    p->pending++;
    pthread_cond_signal(&p->ready);
    pthread_mutex_unlock(&p->lock);
}

struct job *take(struct pool *p) {
    pthread_mutex_lock(&p->lock);
    while (!p->head && !p->stopped) pthread_cond_wait(&p->ready, &p->lock); //~ take
    struct job *job = p->head;
    if (job) {
        p->head = job->next;
        if (!p->head) p->tail = &p->head;
    }
    pthread_mutex_unlock(&p->lock);
    return job;
}

void stop(struct pool *p) {
    p->stopped = 1; //~ stop
    pthread_mutex_lock(&p->lock);
    pthread_cond_broadcast(&p->ready);
    pthread_mutex_unlock(&p->lock);
}

static void square(int *number) { *number *= *number; }

static void *worker(void *argument) {
    struct pool *p = argument;
    for (struct job *job; (job = take(p));) {
        job->run(job->argument);
        free(job);
        atomic_fetch_add(&p->done, 1);
    }
    return NULL;
}

int main(void) {
    pthread_t workers[2];
    pool.tail = &pool.head;
    for (int i = 0; i < 2; i++) pthread_create(&workers[i], NULL, worker, &pool);
    for (int i = 0; i < 4; i++) {
        results[i] = i;
        submit(&pool, square, &results[i]);
    }
    stop(&pool);
    for (int i = 0; i < 2; i++) pthread_join(workers[i], NULL);
    printf("%d\n", results[3]);
    return 0;
}
