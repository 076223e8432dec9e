// A cache under a readers' lock, whose entries are made on demand, with counters of their own lock.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct entry {
    int key, value;
    struct entry *next;
};

static struct entry *entries;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t counters = PTHREAD_MUTEX_INITIALIZER;
static int hits, misses;

static struct entry *find(int key) {
    struct entry *it = entries;
    while (it && it->key != key) it = it->next;
    return it;
}

static void count(int hit) {
    pthread_mutex_lock(&counters);
    if (hit) hits++;
    else misses++;
    pthread_mutex_unlock(&counters);
}

static int cache_get(int key) {
    pthread_rwlock_rdlock(&lock);
    struct entry *it = find(key);
    int value = it ? it->value : -1;
    pthread_rwlock_unlock(&lock);
    count(it != 0);
    return value;
}

static void cache_set(int key, int value) {
    pthread_rwlock_wrlock(&lock);
    struct entry *it = find(key);
    if (!it) {
        it = malloc(sizeof *it);
        it->key = key;
        it->next = entries;
        entries = it;
    }
    it->value = value;
    pthread_rwlock_unlock(&lock);
}

static void *worker(void *number) {
    int key = (int)(long)number;
    if (cache_get(key / 2) < 0) cache_set(key / 2, key);
    cache_get(1 - key / 2);
    return 0;
}

int main(void) {
    pthread_t threads[3];
    for (long i = 0; i < 3; i++) pthread_create(&threads[i], 0, worker, (void *)i);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
    printf("%d\n", hits + misses);
    return 0;
}
