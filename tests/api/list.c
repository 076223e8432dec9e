/* With FAULT adding looks at the tail before it has the lock. */
#include "list.h"
#include <pthread.h>
#include <stdlib.h>

struct list {
    pthread_mutex_t lock;
    struct item *head, *tail;
    int length;
};

int list_create(struct list **list) {
    *list = calloc(1, sizeof **list);
    return pthread_mutex_init(&(*list)->lock, NULL);
}

void list_destroy(struct list *list) {
    pthread_mutex_destroy(&list->lock);
    free(list);
}

void list_add(struct list *list, struct item *item) {
    item->next = NULL;
#ifdef FAULT
    struct item *tail = list->tail;
    pthread_mutex_lock(&list->lock);
#else
    pthread_mutex_lock(&list->lock);
    struct item *tail = list->tail;
#endif
    if (tail)
        tail->next = item;
    else
        list->head = item;
    list->tail = item;
    list->length++;
    pthread_mutex_unlock(&list->lock);
}

struct item *list_remove(struct list *list) {
    pthread_mutex_lock(&list->lock);
    struct item *item = list->head;
    if (item) {
        list->head = item->next;
        if (!list->head)
            list->tail = NULL;
        list->length--;
    }
    pthread_mutex_unlock(&list->lock);
    return item;
}

int list_length(const struct list *list) {
    struct list *writable = (struct list *)list;
    pthread_mutex_lock(&writable->lock);
    int length = list->length;
    pthread_mutex_unlock(&writable->lock);
    return length;
}
