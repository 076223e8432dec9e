//@ expect: use-after-free
//@ pair: drop take
//@ pair: look give
//@ pattern: order-violation|check-then-act
//@ object: conn.refs
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A pool of connections: a reference is taken behind the lock that found it. */
#define MAX_CONNS 4

struct buffer {
    char *data;
    size_t used, size;
};

struct conn {
    int id;
    int refs;
    int closed;
    struct buffer out;
    struct conn *next;
};

struct pool {
    pthread_mutex_t lock;
    struct conn *head;
    int count;
    long requests;
};

static struct pool pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void buffer_append(struct buffer *b, const char *text)
{
    size_t n = strlen(text);
    if (b->used + n + 1 > b->size) {
        b->size = (b->used + n + 1) * 2;
        b->data = realloc(b->data, b->size);
    }
    memcpy(b->data + b->used, text, n + 1);
    b->used += n;
}

static struct conn *conn_new(int id)
{
    struct conn *c = calloc(1, sizeof *c);
    c->id = id;
    c->refs = 1;
    pthread_mutex_lock(&pool.lock);
    c->next = pool.head;
    pool.head = c;
    pool.count++;
    pthread_mutex_unlock(&pool.lock);
    return c;
}

static struct conn *conn_find(int id)
{
    struct conn *c;
    pthread_mutex_lock(&pool.lock);
    for (c = pool.head; c; c = c->next)
        if (c->id == id) //~ look
            break;
    pthread_mutex_unlock(&pool.lock);
    if (c)
        __atomic_fetch_add(&c->refs, 1, __ATOMIC_SEQ_CST); //~ take
    return c;
}

static void conn_unlink(struct conn *c)
{
    struct conn **p;
    pthread_mutex_lock(&pool.lock);
    for (p = &pool.head; *p; p = &(*p)->next)
        if (*p == c) {
            *p = c->next;
            pool.count--;
            break;
        }
    pthread_mutex_unlock(&pool.lock);
}

static void conn_put(struct conn *c)
{
    if (__atomic_sub_fetch(&c->refs, 1, __ATOMIC_SEQ_CST) > 0) //~ drop
        return;
    conn_unlink(c);
    free(c->out.data);
    free(c); //~ give
}

static void *reader(void *arg)
{
    int id = (int)(long)arg;
    struct conn *c = conn_find(id);
    if (!c)
        return NULL;
    pthread_mutex_lock(&pool.lock);
    pool.requests++;
    pthread_mutex_unlock(&pool.lock);
    buffer_append(&c->out, "+OK\r\n");
    conn_put(c);
    return NULL;
}

static void *reaper(void *arg)
{
    struct conn *c = arg;
    c->closed = 1;
    conn_put(c);
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    struct conn *a = conn_new(1);
    conn_new(2);
    pthread_create(&t[0], NULL, reader, (void *)1L);
    pthread_create(&t[1], NULL, reaper, a);
    pthread_join(t[0], NULL);
    pthread_join(t[1], NULL);
    printf("requests %ld, connections %d\n", pool.requests, pool.count);
    return 0;
}
