// The program itself asks for what it tests: with 7 items and the other way an update is lost.
#include <assert.h>
#include <pthread.h>
#include <threadbare.h>

static int items, other, work;
static volatile int total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *run(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    work += items;
    pthread_mutex_unlock(&lock);
    if (items == 7 && other) {
        int seen = total;
        total = seen + 1;
    }
    return 0;
}

int main(void) {
    items = threadbare_choose(20);
    other = threadbare_either();
    pthread_t first, second;
    pthread_create(&first, 0, run, 0);
    pthread_create(&second, 0, run, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    assert(items != 7 || !other || total == 2);
    return 0;
}
