//@ expect: deadlock
//@ preemptions: 1
//@ pair: enter look
// A lock of one's own that readers may upgrade: two that upgrade at once wait for each other to leave.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int readers, writing, value;

static void read_lock(void) {
    pthread_mutex_lock(&lock);
    while (writing)
        pthread_cond_wait(&changed, &lock);
    readers++; //~ enter
    pthread_mutex_unlock(&lock);
}

static void upgrade(void) {
    pthread_mutex_lock(&lock);
    while (readers > 1) //~ look
        pthread_cond_wait(&changed, &lock); //~ here
    readers = 0;
    writing = 1;
    pthread_mutex_unlock(&lock);
}

static void write_unlock(void) {
    pthread_mutex_lock(&lock);
    writing = 0;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void *bump(void *unused) {
    (void)unused;
    read_lock();
    int seen = value;
    upgrade();
    value = seen + 1;
    write_unlock();
    return 0;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, bump, 0);
    pthread_create(&b, 0, bump, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
