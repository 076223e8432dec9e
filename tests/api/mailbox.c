/* With FAULT the message is published before it is written. */
#include "mailbox.h"
#include <stdatomic.h>
#include <stdlib.h>

enum { EMPTY, BUSY, FULL };

struct mailbox {
    atomic_int state;
    void *message;
};

struct mailbox *mailbox_create(void) {
    return calloc(1, sizeof(struct mailbox));
}

void mailbox_destroy(struct mailbox *box) {
    free(box);
}

bool mailbox_try_put(struct mailbox *box, void *message) {
    int empty = EMPTY;
    if (!atomic_compare_exchange_strong(&box->state, &empty, BUSY))
        return false;
    box->message = message;
#ifdef FAULT
    atomic_store_explicit(&box->state, FULL, memory_order_relaxed);
#else
    atomic_store_explicit(&box->state, FULL, memory_order_release);
#endif
    return true;
}

void *mailbox_try_get(struct mailbox *box) {
    int full = FULL;
    if (!atomic_compare_exchange_strong(&box->state, &full, BUSY))
        return NULL;
    void *message = box->message;
    atomic_store_explicit(&box->state, EMPTY, memory_order_release);
    return message;
}
