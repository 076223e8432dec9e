// A slot counts as full before it is filled; it is emptied by an exchange.
//@ expect: assertion
//@ pair: takes fills
//@ pattern: order-violation|torn-pair|use-before-init
//@ object: slots[0]|slots[1]
#include <pthread.h>
#include <assert.h>
enum { N = 2 };
static int slots[N], head, tail, count;
static pthread_mutex_t hl = PTHREAD_MUTEX_INITIALIZER, tl = PTHREAD_MUTEX_INITIALIZER;
static int trace[64], traced;
static int push(int v) {
    pthread_mutex_lock(&tl);
    if (__atomic_load_n(&count, __ATOMIC_SEQ_CST) == N) { pthread_mutex_unlock(&tl); return 0; }
    __atomic_fetch_add(&count, 1, __ATOMIC_SEQ_CST); //~ counts
    __atomic_store_n(&slots[tail], v, __ATOMIC_SEQ_CST); //~ fills
    tail = (tail + 1) % N;
    pthread_mutex_unlock(&tl);
    return 1;
}
static int pop(int *v) {
    pthread_mutex_lock(&hl);
    if (__atomic_load_n(&count, __ATOMIC_SEQ_CST) == 0) { pthread_mutex_unlock(&hl); return 0; }
    *v = __atomic_exchange_n(&slots[head], 0, __ATOMIC_SEQ_CST); //~ takes
    head = (head + 1) % N;
    __atomic_fetch_sub(&count, 1, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(&hl);
    return 1;
}
static void *p(void *x) { for (int i = 1; i <= 3; i++) push(i); return x; }
static void *c(void *x) { int v; for (int i = 0; i < 4; i++) if (pop(&v)) { assert(v != 0); trace[traced++] = v; } return x; } //~ end
int main(void) { pthread_t a, b; pthread_create(&a, 0, p, 0); pthread_create(&b, 0, c, 0); pthread_join(a, 0); pthread_join(b, 0); return 0; }
