/* A queue of nodes that the caller makes. */
#ifndef LIST_H
#define LIST_H

struct item {
    struct item *next;
    int key;
};

struct list;

int list_create(struct list **list);
void list_destroy(struct list *list);
void list_add(struct list *list, struct item *item);
struct item *list_remove(struct list *list);
int list_length(const struct list *list);

#endif
