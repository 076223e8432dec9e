/* With FAULT the number is read and written in two steps. */
#include "counter.h"
#include <stdatomic.h>

void counter_init(counter *c, unsigned first) {
    atomic_init(&c->next, first);
}

unsigned counter_take(counter *c) {
#ifdef FAULT
    unsigned taken = atomic_load(&c->next);
    atomic_store(&c->next, taken + 1);
    return taken;
#else
    return atomic_fetch_add(&c->next, 1);
#endif
}
