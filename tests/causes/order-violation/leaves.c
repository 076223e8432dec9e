// A consumer that sees that it is to stop leaves what is queued; nobody's wake is lost.
//@ expect: assertion
//@ pair: closes looks
//@ pattern: order-violation|check-then-act|use-before-init
//@ object: closing
#include <pthread.h>
#include <assert.h>
#include <string.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int queued, closing, handled;
static char names[4][8];
static void *producer(void *x) {
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&m);
        strcpy(names[i], "job");
        queued++;
        pthread_cond_signal(&c);
        pthread_mutex_unlock(&m);
    }
    pthread_mutex_lock(&m);
    closing = 1; //~ closes
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    return x;
}
static void *consumer(void *x) {
    for (;;) {
        pthread_mutex_lock(&m);
        while (!queued && !closing) //~ waits
            pthread_cond_wait(&c, &m);
        if (closing) { //~ looks
            pthread_mutex_unlock(&m); return x; }
        queued--; handled++;
        pthread_mutex_unlock(&m);
    }
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, producer, 0);
    pthread_create(&b, 0, consumer, 0);
    pthread_join(a, 0); pthread_join(b, 0);
    assert(handled == 3); //~ end
    return 0;
}
