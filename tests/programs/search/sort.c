//@ expect: assertion
//@ max-runs: 1000
// A parallel sort: each strand sorts its part of an array and merges it into the whole when its turn has come. The turn is passed
// on before the merge is done, so that two strands may merge at once.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#define PART 2
#define MOST 6

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t passed = PTHREAD_COND_INITIALIZER;
static int parts, turn, merged;
static int whole[PART * MOST];

static void insert(int value) {
    int at = merged;
    while (at > 0 && whole[at - 1] > value) {
        whole[at] = whole[at - 1];
        at--;
    }
    whole[at] = value;
    merged++;
}

static void *sort(void *arg) {
    int me = (int)(long)arg;
    int part[PART];
    for (int i = 0; i < PART; i++)
        part[i] = (parts - me) * PART - i;
    for (int i = 1; i < PART; i++)
        if (part[i] < part[i - 1]) {
            int smaller = part[i];
            part[i] = part[i - 1];
            part[i - 1] = smaller;
        }
    pthread_mutex_lock(&lock);
    while (turn != me)
        pthread_cond_wait(&passed, &lock);
    turn++;
    pthread_cond_broadcast(&passed);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < PART; i++)
        insert(part[i]);
    return 0;
}

int main(int argc, char **argv) {
    parts = argc > 1 ? atoi(argv[1]) : 3;
    pthread_t strands[MOST];
    for (long i = 0; i < parts; i++)
        pthread_create(&strands[i], 0, sort, (void *)i);
    for (int i = 0; i < parts; i++)
        pthread_join(strands[i], 0);
    assert(merged == parts * PART);
    for (int i = 1; i < parts * PART; i++)
        assert(whole[i - 1] < whole[i]);
    return 0;
}
