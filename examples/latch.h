/* A latch: whoever waits goes on when it is opened. */
#ifndef LATCH_H
#define LATCH_H

struct latch;

struct latch *latch_new(void);
void latch_free(struct latch *latch);
void latch_open(struct latch *latch);
void latch_wait(struct latch *latch);

#endif
