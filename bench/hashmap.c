// A hash map that four strands share: chains of nodes on the heap, 64 locks for 4,096 buckets.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#define BUCKETS 4096
#define LOCKS 64
#define STRANDS 4
#define STEPS 400000
struct node {
    unsigned long key, value;
    struct node *next;
};
static struct node *buckets[BUCKETS];
static pthread_mutex_t locks[LOCKS];
static unsigned long sums[STRANDS];
static unsigned long mix(unsigned long x) {
    x ^= x >> 31;
    x *= 0x9E3779B97F4A7C15ul;
    return x ^ x >> 29;
}
static struct node **find(unsigned long key) {
    struct node **at = &buckets[mix(key) % BUCKETS];
    while (*at && (*at)->key != key) at = &(*at)->next;
    return at;
}
static void *work(void *arg) {
    long me = (long)arg;
    unsigned long seed = me * 7919 + 1;
    for (int step = 0; step < STEPS; step++) {
        seed = seed * 6364136223846793005ul + 1442695040888963407ul;
        unsigned long key = (seed >> 33) % 16384;
        pthread_mutex_t *lock = &locks[mix(key) % BUCKETS % LOCKS];
        pthread_mutex_lock(lock);
        struct node **at = find(key), *node = *at;
        switch (seed >> 60 & 7) {
        case 0:
            if (!node) {
                node = malloc(sizeof *node);
                node->key = key;
                node->value = step;
                node->next = 0;
                *at = node;
            }
            break;
        case 1:
            if (node) {
                *at = node->next;
                free(node);
            }
            break;
        default:
            if (node) sums[me] += node->value;
        }
        pthread_mutex_unlock(lock);
    }
    return 0;
}
int main(void) {
    pthread_t t[STRANDS];
    for (int i = 0; i < LOCKS; i++) pthread_mutex_init(&locks[i], 0);
    for (long i = 0; i < STRANDS; i++) pthread_create(&t[i], 0, work, (void *)i);
    for (int i = 0; i < STRANDS; i++) pthread_join(t[i], 0);
    unsigned long sum = 0;
    for (int i = 0; i < STRANDS; i++) sum += sums[i];
    printf("%d\n", sum != 0);
    return 0;
}
