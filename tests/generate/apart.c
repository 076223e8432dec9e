/* One of two strands does its work, whichever comes first: no run has both calls. With an argument they take the lock. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct tank { pthread_mutex_t lock; int level, limit; struct tank *next; };

static struct tank *tank;
static atomic_int taken;
static int strict;

__attribute__((noinline)) static void fill(struct tank *it, int by) {
    if (strict) pthread_mutex_lock(&it->lock);
    it->level += by;
    if (strict) pthread_mutex_unlock(&it->lock);
}
__attribute__((noinline)) static int drain(struct tank *it, int by) {
    if (strict) pthread_mutex_lock(&it->lock);
    it->level -= by;
    int left = it->level;
    if (strict) pthread_mutex_unlock(&it->lock);
    return left;
}
static void *filler(void *at) {
    if (!atomic_exchange(&taken, 1)) fill(tank, 3);
    return at;
}
static void *drainer(void *at) {
    if (!atomic_exchange(&taken, 1)) drain(tank, 2);
    return at;
}
int main(int count, char **words) {
    (void)words;
    strict = count > 1;
    tank = malloc(sizeof *tank);
    pthread_mutex_init(&tank->lock, 0);
    tank->level = 10; tank->limit = 50; tank->next = tank;
    pthread_t one, two;
    pthread_create(&one, 0, filler, 0);
    pthread_create(&two, 0, drainer, 0);
    pthread_join(one, 0); pthread_join(two, 0);
    return tank->level > 100;
}
