//@ expect: pass
//@ args: W0 R0
// Each argument is what a strand does, a letter and a digit for each operation: a small program for every test of planners.
// Main joins them all, unless the first argument is `main:` and what it does instead before it returns.
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { OBJECTS = 4, STRANDS = 8 };

static atomic_int words[OBJECTS];
static volatile int plain[OBJECTS];
static pthread_mutex_t locks[OBJECTS];
static pthread_cond_t conds[OBJECTS];
static pthread_rwlock_t rwlocks[OBJECTS];
static pthread_barrier_t barriers[OBJECTS];
static pthread_once_t onces[OBJECTS];
static sem_t sems[OBJECTS];

static void initialise(void) { plain[0]++; }

static struct timespec soon(void) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    time.tv_nsec += 1000000;
    if (time.tv_nsec >= 1000000000) {
        time.tv_sec++;
        time.tv_nsec -= 1000000000;
    }
    return time;
}

static void perform(char operation, int at) {
    int expected = 0;
    struct timespec time;
    switch (operation) {
    case 'R': atomic_load(&words[at]); break;
    case 'W': atomic_store(&words[at], 1); break;
    case 'A': atomic_fetch_add(&words[at], 1); break;
    case 'C': atomic_compare_exchange_strong(&words[at], &expected, 1); break;
    case 'r': (void)plain[at]; break;
    case 'w': plain[at] = 1; break;
    case 'i': plain[at] = plain[at] + 1; break;
    case 'l': pthread_mutex_lock(&locks[at]); break;
    case 'u': pthread_mutex_unlock(&locks[at]); break;
    case 't': if (pthread_mutex_trylock(&locks[at]) == 0) pthread_mutex_unlock(&locks[at]); break;
    case 'T':
        time = soon();
        if (pthread_mutex_timedlock(&locks[at], &time) == 0) pthread_mutex_unlock(&locks[at]);
        break;
    case 'c': while (!plain[at]) pthread_cond_wait(&conds[at], &locks[at]); break;
    case 'x':
        time = soon();
        pthread_cond_timedwait(&conds[at], &locks[at], &time);
        break;
    case 's': pthread_cond_signal(&conds[at]); break;
    case 'b': pthread_cond_broadcast(&conds[at]); break;
    case 'p': sem_post(&sems[at]); break;
    case 'v': sem_wait(&sems[at]); break;
    case 'q': sem_trywait(&sems[at]); break;
    case 'd': pthread_rwlock_rdlock(&rwlocks[at]); break;
    case 'D': pthread_rwlock_wrlock(&rwlocks[at]); break;
    case 'e': pthread_rwlock_unlock(&rwlocks[at]); break;
    case 'B': pthread_barrier_wait(&barriers[at]); break;
    case 'o': pthread_once(&onces[at], initialise); break;
    case 'a': while (!atomic_load(&words[at])) {} break;
    case 'z': while (atomic_exchange(&words[at], 1)) {} break;
    case 'Z': atomic_store(&words[at], 0); break;
    case 'm': free(malloc(16)); break;
    case 'X': exit(0);
    case 'E': _exit(0);
    case 'Q': quick_exit(0);
    case 'P': pthread_exit(0);
    case 'S':
        time = (struct timespec){0, 1000};
        nanosleep(&time, 0);
        break;
    default: abort();
    }
}

static void *act(void *script) {
    for (const char *at = script; *at; at += 2) perform(at[0], at[1] - '0');
    return 0;
}

int main(int count, char **scripts) {
    pthread_t strands[STRANDS];
    for (int at = 0; at < OBJECTS; at++) {
        pthread_mutex_init(&locks[at], 0);
        pthread_cond_init(&conds[at], 0);
        pthread_rwlock_init(&rwlocks[at], 0);
        pthread_barrier_init(&barriers[at], 0, 2);
        sem_init(&sems[at], 0, at);
        memset(&onces[at], 0, sizeof onces[at]);
    }
    char *own = count > 1 && !strncmp(scripts[1], "main:", 5) ? scripts[1] + 5 : 0;
    int first = own ? 2 : 1;
    for (int at = first; at < count; at++) pthread_create(&strands[at - first], 0, act, scripts[at]);
    if (own) act(own);
    for (int at = first; !own && at < count; at++) pthread_join(strands[at - first], 0);
    return 0;
}
