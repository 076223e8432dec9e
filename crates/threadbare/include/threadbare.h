/* threadbare.h: what a C or C++ test may ask of Threadbare.
 *
 * One header, no library. Built with `threadbare cc` or `threadbare c++` and run by `threadbare run`, the values are choices of the
 * schedule: drawn by strategies, tried one by one by planners, made again by a replay. In a plain run, or built with another
 * compiler, every choice is the first one.
 */
#ifndef THREADBARE_H
#define THREADBARE_H

#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the runtime has; nobody else does. */
extern unsigned long threadbare_rt_choose(unsigned long options) __attribute__((weak));
extern unsigned long threadbare_rt_any(unsigned bits) __attribute__((weak));
extern void threadbare_rt_abandon(void) __attribute__((weak));
extern void threadbare_rt_reached(const char *label) __attribute__((weak));
extern void threadbare_rt_atomic(int begins) __attribute__((weak));
extern int threadbare_rt_check(const char *options) __attribute__((weak));

/* Every run begins here: what came before is made once. The options are defaults of the campaign, lines of name and value such as
 * "runs=500\nstrategy=pct:3", or "". Only the first one counts. */
static inline void threadbare_check(const char *options) {
    if (threadbare_rt_check)
        threadbare_rt_check(options);
}

/* One of the numbers from 0 to options - 1. */
static inline unsigned long threadbare_choose(unsigned long options) {
    return threadbare_rt_choose ? threadbare_rt_choose(options) : 0;
}

/* Any value of so many bits. Up to 16 bits planners try every one. */
static inline unsigned long threadbare_any(unsigned bits) {
    return threadbare_rt_any ? threadbare_rt_any(bits) : 0;
}

/* Either. */
static inline int threadbare_either(void) { return (int)threadbare_choose(2); }

/* One of an array's elements. */
#define threadbare_one_of(array) ((array)[threadbare_choose(sizeof(array) / sizeof((array)[0]))])

/* A run for which this does not hold is of no use: it ends here, and counts as passed. */
static inline void threadbare_assume(int holds) {
    if (!holds) {
        if (threadbare_rt_abandon)
            threadbare_rt_abandon();
        _Exit(0);
    }
}

/* The campaign tells which labels its runs came to. */
static inline void threadbare_reached(const char *label) {
    if (threadbare_rt_reached)
        threadbare_rt_reached(label);
}

/* Between these two no other strand goes on, unless this one has to wait. */
static inline void threadbare_atomic_begin(void) {
    if (threadbare_rt_atomic)
        threadbare_rt_atomic(1);
}
static inline void threadbare_atomic_end(void) {
    if (threadbare_rt_atomic)
        threadbare_rt_atomic(0);
}

#ifdef __cplusplus
}
#endif

#endif
