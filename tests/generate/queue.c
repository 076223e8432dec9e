// The paper's asynchronous queue: producers, consumers and a monitor around a list. With an argument it takes its lock everywhere; without,
// the length is looked at and the last element dropped outside it.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct node {
    int value;
    struct node *next;
};

struct queue {
    struct node *head;
    struct node *tail;
    int length;
    int closed;
    pthread_mutex_t lock;
    pthread_cond_t more;
};

static struct queue queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER};
static int careful;

static void queue_put(struct queue *q, int value) {
    struct node *node = malloc(sizeof *node);
    node->value = value;
    node->next = 0;
    pthread_mutex_lock(&q->lock);
    if (q->tail) q->tail->next = node;
    else q->head = node;
    q->tail = node;
    q->length++; //~ put
    pthread_cond_signal(&q->more);
    pthread_mutex_unlock(&q->lock);
}

static int queue_take(struct queue *q, int *value) {
    pthread_mutex_lock(&q->lock);
    while (!q->head && !q->closed) pthread_cond_wait(&q->more, &q->lock);
    struct node *node = q->head;
    if (node) {
        q->head = node->next;
        if (!q->head) q->tail = 0;
        q->length--; //~ take
        *value = node->value;
        free(node);
    }
    pthread_mutex_unlock(&q->lock);
    return node != 0;
}

static void queue_close(struct queue *q) {
    if (careful) pthread_mutex_lock(&q->lock);
    q->closed = 1; //~ close
    pthread_cond_broadcast(&q->more);
    if (careful) pthread_mutex_unlock(&q->lock);
}

static int queue_length(struct queue *q) {
    if (careful) pthread_mutex_lock(&q->lock);
    int length = q->length; //~ length
    if (careful) pthread_mutex_unlock(&q->lock);
    return length;
}

static void *producer(void *first) {
    for (int i = 0; i < 3; i++) queue_put(&queue, (int)(long)first + i);
    return 0;
}

static void *consumer(void *unused) {
    int value, sum = 0;
    (void)unused;
    while (queue_take(&queue, &value)) sum += value;
    return (void *)(long)sum;
}

static void *monitor(void *unused) {
    (void)unused;
    int most = 0;
    for (int i = 0; i < 2; i++) {
        int now = queue_length(&queue);
        if (now > most) most = now;
    }
    return (void *)(long)most;
}

int main(int argc, char **argv) {
    (void)argv;
    careful = argc > 1;
    pthread_t producers[2], consumers[2], watcher;
    for (long i = 0; i < 2; i++) pthread_create(&consumers[i], 0, consumer, 0);
    for (long i = 0; i < 2; i++) pthread_create(&producers[i], 0, producer, (void *)(i * 10));
    pthread_create(&watcher, 0, monitor, 0);
    for (int i = 0; i < 2; i++) pthread_join(producers[i], 0);
    queue_close(&queue);
    for (int i = 0; i < 2; i++) pthread_join(consumers[i], 0);
    pthread_join(watcher, 0);
    puts("done");
    return 0;
}
