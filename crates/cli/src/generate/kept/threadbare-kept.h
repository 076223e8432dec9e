/* What tests that `threadbare generate` writes are made with; see threadbare-kept.c. */
#ifndef THREADBARE_KEPT_H
#define THREADBARE_KEPT_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#include <stdint.h>

/* A function or variable of the program by its name in the symbol table, static or not. Of several that have
   the name the one of this source file; any if that is null. The test ends if there is none. */
void *kept_symbol(const char *name, const char *file);
/* The same of a library that the program has loaded. */
void *kept_library(const char *name);
/* What lies at an offset of the program's image: text and tables without a name. */
void *kept_image(uint64_t offset);
/* A new block of the heap, zeroed. */
void *kept_block(size_t size);
/* Stands for memory that was not recorded: who touches it ends the test as `state missing`, with this name. */
void *kept_missing(const char *name);
/* Tells of what is not as expected, and the test fails. */
void kept_unexpected(const char *what, const char *source, unsigned line);
/* Whether Threadbare runs the test: it tells of a failed assertion where it is. */
int kept_is_watched(void);
/* libc's, as `assert` calls it. */
extern void __assert_fail(const char *, const char *, unsigned, const char *) __attribute__((noreturn));

/* The test: what sets its state up, the two calls, what is expected afterwards (or null), and a function by which
   the program is known: a debugger or a shell that is started with the test loaded runs as usual. */
struct kept_test {
    void (*set_up)(void);
    void (*first)(void);
    void (*second)(void);
    void (*expected)(void);
    const char *program_has;
};
extern const struct kept_test kept_test;

/* Sets memory as it was recorded: kept_set(uint64_t, memory, 8, 5). */
#define kept_set(type, start, offset, value) (*(type *)((char *)(start) + (offset)) = (type)(value))
#define kept_expect_that(condition)                                                   \
    ((condition)         ? (void)0                                                    \
     : kept_is_watched() ? __assert_fail(#condition, __FILE__, __LINE__, __func__)    \
                         : kept_unexpected(#condition, __FILE__, __LINE__))

#endif
