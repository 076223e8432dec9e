//@ expect: pass
// assigned.c and assigned_large.c with a lock.
#include <assert.h>
#include <pthread.h>

struct triple {
    long parts[3];
} from, to;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *assigns(void *unused) {
    pthread_mutex_lock(&lock);
    to = from;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *writes(void *unused) {
    pthread_mutex_lock(&lock);
    from.parts[0] = 1;
    from.parts[2] = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, 0, assigns, 0);
    pthread_create(&second, 0, writes, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    assert(to.parts[0] == to.parts[2]);
    return 0;
}
