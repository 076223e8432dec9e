// The paper's figure 2: a pointer is looked at, and used after another strand may have taken it away.
#include <pthread.h>
#include <stddef.h>

struct A {
    int x;
};

static struct A object;
struct A *volatile p;

static void *user(void *unused) {
    (void)unused;
    p = &object;
    if (p != NULL) //~ look
        p->x += 10; //~ use
    return NULL;
}

static void *taker(void *unused) {
    (void)unused;
    p = NULL;
    return NULL;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, user, NULL);
    pthread_create(&two, NULL, taker, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
