//@ expect: pass
//@ runs: 5
//@ timeout: 30s
// Thousands of short strands, one after the other and in small groups: each begins with fresh thread-local storage.
#include <assert.h>
#include <errno.h>
#include <locale.h>
#include <pthread.h>
#include <stdlib.h>
#include <ctype.h>

#define GROUPS 800
#define GROUP 3

static _Thread_local int counted = 5;
static _Thread_local char text[300] = "fresh";
static pthread_key_t key;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void *work(void *arg) {
    assert(counted == 5 && text[0] == 'f' && text[299] == 0);
    assert(pthread_getspecific(key) == NULL);
    assert(isalpha('x'));
    counted = 6;
    text[0] = 'u';
    text[299] = 'x';
    errno = 7;
    pthread_setspecific(key, &total);
    char *block = malloc(50);
    block[0] = 1;
    free(block);
    pthread_mutex_lock(&lock);
    total++;
    pthread_mutex_unlock(&lock);
    if ((long)arg == 1)
        pthread_exit(arg);
    return arg;
}

int main(void) {
    pthread_key_create(&key, NULL);
    for (int group = 0; group < GROUPS; group++) {
        pthread_t strands[GROUP];
        for (long i = 0; i < GROUP; i++)
            assert(pthread_create(&strands[i], NULL, work, (void *)i) == 0);
        for (long i = 0; i < GROUP; i++) {
            void *result;
            assert(pthread_join(strands[i], &result) == 0 && result == (void *)i);
        }
    }
    assert(total == GROUPS * GROUP);
    return 0;
}
