// What the programs of this folder begin and end with: strands that are started together and waited for.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

typedef void *(*body)(void *);

static inline void run_all(const body *bodies, size_t count) {
    pthread_t strands[16];
    for (size_t i = 0; i < count; i++)
        pthread_create(&strands[i], NULL, bodies[i], (void *)i);
    for (size_t i = 0; i < count; i++)
        pthread_join(strands[i], NULL);
}

#define RUN(...)                                                                                                       \
    do {                                                                                                               \
        const body bodies[] = {__VA_ARGS__};                                                                           \
        run_all(bodies, sizeof bodies / sizeof *bodies);                                                               \
    } while (0)
