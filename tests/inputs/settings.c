// A file of settings: with a size of 13 and the mode `deep` an update is lost.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static int size, deep, work;
static volatile int total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *run(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    if (size % 2)
        work++;
    else
        work += 2;
    pthread_mutex_unlock(&lock);
    if (size == 13 && deep) {
        int seen = total;
        total = seen + 1;
    }
    return 0;
}

int main(int count, char **words) {
    char mode[8] = "";
    FILE *file = count > 1 ? fopen(words[1], "r") : 0;
    if (!file || fscanf(file, "size=%d mode=%4s", &size, mode) != 2)
        return 0;
    fclose(file);
    deep = !strcmp(mode, "deep");
    pthread_t first, second;
    pthread_create(&first, 0, run, 0);
    pthread_create(&second, 0, run, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    assert(size != 13 || !deep || total == 2);
    return 0;
}
