// Strands take names from a queue, look through the files and count what they find.
#include "strands.h"

enum { FILES = 4 };
static const char *const files[FILES] = {"abracadabra", "banana", "", "xyz"};
pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER, count_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t more = PTHREAD_COND_INITIALIZER;
int queued, taken, matches, scanned;
bool closed;

static int next(void) {
    pthread_mutex_lock(&queue_lock);
    while (taken == queued && !closed)
        pthread_cond_wait(&more, &queue_lock);
    int file = taken < queued ? taken++ : -1;
    pthread_mutex_unlock(&queue_lock);
    return file;
}

static void scan(int file) {
    int found = 0;
    for (const char *at = files[file]; *at; at++)
        found += *at == 'a';
    pthread_mutex_lock(&count_lock);
    matches += found;
    scanned++;
    pthread_mutex_unlock(&count_lock);
}

static void *work(void *unused) {
    for (int file = next(); file >= 0; file = next())
        scan(file);
    return unused;
}

static void put(void) {
    pthread_mutex_lock(&queue_lock);
    queued++;
    pthread_mutex_unlock(&queue_lock);
    pthread_cond_signal(&more);
}

static void *list(void *unused) {
    for (int i = 0; i < FILES; i++)
        put();
    pthread_mutex_lock(&queue_lock);
    closed = true;
    pthread_mutex_unlock(&queue_lock);
    pthread_cond_broadcast(&more);
    return unused;
}

int main(void) {
    RUN(list, work, work);
    assert(scanned == FILES && matches == 8);
}
