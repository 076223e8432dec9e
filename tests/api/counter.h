/* Tickets: each number is given once. */
#ifndef COUNTER_H
#define COUNTER_H

typedef struct {
    _Atomic unsigned next;
} counter;

void counter_init(counter *c, unsigned first);
unsigned counter_take(counter *c);

#endif
