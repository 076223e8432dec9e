// With one number a strand frees what the other may have taken before.
#include <pthread.h>
#include <stdlib.h>

static int number, work;
static int *volatile shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *uses(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    work += number;
    pthread_mutex_unlock(&lock);
    if (number == 31) {
        int *mine = shared;
        if (mine)
            *mine += 1;
    }
    return 0;
}

static void *frees(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    work -= number;
    pthread_mutex_unlock(&lock);
    if (number == 31) {
        int *mine = shared;
        shared = 0;
        free(mine);
    }
    return 0;
}

int main(int count, char **words) {
    number = count > 1 ? atoi(words[1]) : 0;
    shared = calloc(1, sizeof *shared);
    pthread_t first, second;
    pthread_create(&first, 0, uses, 0);
    pthread_create(&second, 0, frees, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    return 0;
}
