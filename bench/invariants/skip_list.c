// A sorted list of two levels under one lock; the upper one has every second key.
#include "strands.h"
#include <stdlib.h>

struct node {
    int key;
    int level;
    struct node *next[2];
};

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
struct node head;
int length, tall, searches;

static bool insert(int key) {
    pthread_mutex_lock(&lock);
    struct node *before[2];
    struct node *at = &head;
    for (int level = 1; level >= 0; level--) {
        while (at->next[level] && at->next[level]->key < key)
            at = at->next[level];
        before[level] = at;
    }
    bool fresh = !before[0]->next[0] || before[0]->next[0]->key != key;
    if (fresh) {
        struct node *node = calloc(1, sizeof *node);
        node->key = key;
        node->level = key % 2;
        for (int level = 0; level <= node->level; level++) {
            node->next[level] = before[level]->next[level];
            before[level]->next[level] = node;
        }
        length++;
        tall += node->level;
    }
    pthread_mutex_unlock(&lock);
    return fresh;
}

static bool has(int key) {
    pthread_mutex_lock(&lock);
    struct node *at = &head;
    for (int level = 1; level >= 0; level--)
        while (at->next[level] && at->next[level]->key < key)
            at = at->next[level];
    bool found = at->next[0] && at->next[0]->key == key;
    searches++;
    pthread_mutex_unlock(&lock);
    return found;
}

static void *first(void *unused) {
    insert(3);
    insert(6);
    assert(has(3));
    return unused;
}

static void *second(void *unused) {
    insert(5);
    insert(3);
    assert(has(5));
    return unused;
}

int main(void) {
    RUN(first, second);
    assert(length == 3 && tall == 2);
    while (head.next[0]) {
        struct node *gone = head.next[0];
        head.next[0] = gone->next[0];
        free(gone);
    }
}
