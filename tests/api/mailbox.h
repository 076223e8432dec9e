/* A place for one message. */
#ifndef MAILBOX_H
#define MAILBOX_H
#include <stdbool.h>

struct mailbox;

struct mailbox *mailbox_create(void);
void mailbox_destroy(struct mailbox *box);
/* Whether there was room, and nobody was at it. */
bool mailbox_try_put(struct mailbox *box, void *message);
/* NULL if there is none, or somebody was at it. */
void *mailbox_try_get(struct mailbox *box);

#endif
